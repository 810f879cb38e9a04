package lea

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"arkamsg/competences"
	"arkamsg/competences/document"
	"arkamsg/competences/primitives"
	"arkamsg/competences/refusal"
	"arkamsg/competences/shadow"
	"arkamsg/competences/slug"
	"arkamsg/internal/clients"
	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/wire"
)

// Deps are the keepers behind the door.
type Deps struct {
	Competences *competences.Service
	Shadow      *shadow.Store
	Clients     *clients.Store
}

// Patterns are the paths of this door, for http.ServeMux.
var Patterns = []string{"/api/v1/lea/", "/api/v1/shadow/"}

// New returns the door.
func New(d Deps) http.Handler {
	a := &api{d}
	mux := http.NewServeMux()
	for _, op := range operations {
		mux.HandleFunc(op.method+" "+op.path, a.serve(op))
	}
	return wire.Routes(mux)
}

type api struct{ Deps }

// call is what an operation works with: all that the door has parsed.
type call struct {
	ctx  context.Context
	who  clients.Principal
	req  *http.Request
	body []byte
}

// reply is what goes out when nothing was refused.
type reply struct {
	status int
	header map[string]string
	body   any
}

func ok(v any) reply { return reply{status: http.StatusOK, body: v} }

// serve wraps an operation in what all of them share, in the fixed order.
func (a *api) serve(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := call{ctx: r.Context(), req: r}
		var err error
		if c.who, err = a.authenticate(r); err != nil {
			fail(w, r, err)
			return
		}
		wire.ExchangeOf(r.Context()).Client = c.who.ClientID
		if op.body != "" {
			if c.body, err = readBody(w, r); err != nil {
				fail(w, r, err)
				return
			}
		}
		out, err := op.run(a, c)
		if err != nil {
			fail(w, r, err)
			return
		}
		for name, value := range out.header {
			w.Header().Set(name, value)
		}
		wire.JSON(w, out.status, out.body)
	}
}

func (a *api) authenticate(r *http.Request) (clients.Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return clients.Principal{}, refusal.New(refusal.Unauthenticated, errkind.Refused, "a bearer token is needed")
	}
	p, err := a.Clients.Authenticate(r.Context(), strings.TrimSpace(token))
	if errors.Is(err, clients.ErrToken) {
		return p, refusal.New(refusal.Unauthenticated, errkind.Refused, "%v", err)
	}
	return p, err
}

// readBody gives the shared refusals of a body this door's codes.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := wire.Body(w, r)
	var e *wire.Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusUnsupportedMediaType:
			return nil, refusal.New(refusal.UnsupportedMedia, errkind.Invalid, "%s", e.Detail)
		case http.StatusRequestEntityTooLarge:
			return nil, refusal.New(refusal.TooLarge, errkind.Invalid, "%s", e.Detail)
		}
	}
	return data, err
}

func (a *api) persist(c call) (reply, error) {
	ans, err := a.Competences.Persist(c.ctx, c.who, c.body)
	if err != nil {
		return reply{}, err
	}
	out := reply{status: http.StatusOK, header: map[string]string{}, body: json.RawMessage(ans.Body)}
	if ans.Created {
		out.status = http.StatusCreated
		return out, nil
	}
	out.header["Idempotent-Replay"] = "true"
	if ans.Mismatch {
		out.header["Idempotent-Payload-Mismatch"] = "true"
		out.header["Warning"] = `199 - "this persist_id was used for another body; its answer is repeated"`
	}
	return out, nil
}

func (a *api) list(c call) (reply, error) {
	items, err := a.Competences.List(c.ctx)
	return ok(map[string]any{"competences": items}), err
}

func (a *api) get(c call) (reply, error) {
	d, err := a.Competences.Get(c.ctx, slug.Slug(c.req.PathValue("id")))
	return ok(d), err
}

func (a *api) beginUnlearning(c call) (reply, error) {
	reason, err := parseReason(c.body)
	if err != nil {
		return reply{}, err
	}
	u, begun, err := a.Competences.BeginUnlearning(c.ctx, slug.Slug(c.req.PathValue("id")), c.who.ClientID, reason)
	out := ok(unlearning(u, true))
	if begun {
		out.status = http.StatusCreated
	}
	return out, err
}

func (a *api) endUnlearning(c call) (reply, error) {
	u, err := a.Competences.EndUnlearning(c.ctx, slug.Slug(c.req.PathValue("id")), c.who.ClientID)
	return ok(unlearning(u, false)), err
}

func unlearning(u competences.Unlearning, active bool) map[string]any {
	return map[string]any{"competence_id": u.Slug, "active": active, "started_at": document.Stamp(u.StartedAt), "started_by": u.StartedBy, "reason": u.Reason}
}

func (a *api) primitives(call) (reply, error) {
	return ok(map[string]any{"primitives": primitives.Default().All()}), nil
}

func (a *api) agents(call) (reply, error) {
	agents := a.Competences.Agents()
	if agents == nil {
		agents = []string{}
	}
	return ok(map[string]any{"external_agents": agents}), nil
}

func (a *api) start(c call) (reply, error) {
	s, err := a.Shadow.Start(c.ctx, c.who, c.body)
	return reply{status: http.StatusCreated, body: s}, err
}

func (a *api) events(c call) (reply, error) {
	s, err := a.Shadow.Events(c.ctx, c.who, c.body)
	return ok(s), err
}

func (a *api) stop(c call) (reply, error) {
	s, err := a.Shadow.Stop(c.ctx, c.who, c.body)
	return ok(s), err
}

func (a *api) understanding(c call) (reply, error) {
	u, err := a.Shadow.Understanding(c.ctx, c.who, c.req.URL.Query().Get("session_id"))
	return ok(u), err
}

func (a *api) feedback(c call) (reply, error) {
	u, err := a.Shadow.Feedback(c.ctx, c.who, c.body)
	return ok(u), err
}

func (a *api) build(c call) (reply, error) {
	b, err := a.Shadow.Build(c.ctx, c.who, c.body)
	return ok(b), err
}
