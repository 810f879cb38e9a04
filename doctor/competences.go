package doctor

import (
	"context"

	"arkamsg/competences"
)

// checkCompetences lays the competence files and the two exports beside the
// journal. Nothing that it finds stops a message.
func checkCompetences(ctx context.Context, p *patient) Finding {
	x, err := competences.Examine(ctx, string(p.home), p.room.Journal)
	if err != nil {
		return failure(err, "arkamsg competence list")
	}
	if len(x.Problems) > 0 {
		return warn("restart the daemon, which completes what a crash cut short; then per file: arkamsg competence check FILE",
			"%s", list(len(x.Problems), func(i int) string { return x.Problems[i].String() }))
	}
	return ok("%d competences, %d persists kept and exported", x.Competences, x.Audited)
}
