package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"arkamsg/competences"
	"arkamsg/internal/clients"
)

// lostCompetence keeps a competence and removes its file behind everybody's
// back.
func lostCompetence(h *house) {
	h.t.Helper()
	ctx := context.Background()
	room := h.open()
	store, err := clients.Open(ctx, room.Journal.DB())
	must(h.t, err)
	service, err := competences.Open(ctx, string(h.home), room.Journal, store, competences.Options{})
	must(h.t, err)
	_, err = service.PersistLocal(ctx, []byte(`{"name":"Saisir texte","machine_id":"M1","session_id":"s1",
		"workflow_ir":{"steps":[{"kind":"type_text","params":{"text":"bonjour"}}]},
		"learning_metadata":{"persist_id":"00000000-0000-4000-8000-000000000001"}}`))
	must(h.t, errors.Join(err, service.Close(), room.Close()))
	must(h.t, os.Remove(filepath.Join(string(h.home), competences.Folder, "candidate", "saisir_texte.yaml")))
}
