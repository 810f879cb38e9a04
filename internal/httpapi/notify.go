package httpapi

import (
	"net/http"

	"arkamsg/internal/httpapi/wire"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// postNotify takes one notify v1 envelope (ARKA §10): 202 when it is new, 200
// when this very envelope is known. Either way it is durable.
func (a *API) postNotify(w http.ResponseWriter, r *http.Request) {
	receipt, err := a.send(w, r)
	switch {
	case err != nil:
		wire.Fail(w, r, err)
	case receipt.Created:
		wire.JSON(w, http.StatusAccepted, receipt)
	default:
		wire.JSON(w, http.StatusOK, receipt)
	}
}

func (a *API) send(w http.ResponseWriter, r *http.Request) (notifyd.Receipt, error) {
	body, err := wire.Body(w, r)
	if err != nil {
		return notifyd.Receipt{}, err
	}
	envelope, err := messaging.ParseEnvelope(body)
	if err != nil {
		return notifyd.Receipt{}, err
	}
	results, err := a.opts.Room.SendEnvelopes(r.Context(), []messaging.Envelope{envelope}, false)
	if err != nil {
		return notifyd.Receipt{}, err
	}
	return results[0].Receipt, results[0].Err
}

// getNotify is `arkamsg show ID --json`.
func (a *API) getNotify(w http.ResponseWriter, r *http.Request) {
	record, err := a.opts.Room.Lookup(r.Context(), r.PathValue("id"))
	if err != nil {
		wire.Fail(w, r, err)
		return
	}
	wire.JSON(w, http.StatusOK, notifyd.ShowRecord(record, true))
}
