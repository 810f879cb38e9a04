package sessions

import (
	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

// parseBuiltin reads the embedded profiles, as strictly as a person's.
func parseBuiltin() (map[string]Override, error) {
	doc, problems := strictyaml.Parse(builtin, strictyaml.Limits{})
	out := map[string]Override{}
	if len(problems) == 0 {
		problems = doc.Decode(&out)
	}
	if len(problems) > 0 {
		return nil, errkind.New(errkind.Internal, "builtin.yaml").WithProblems(problems...)
	}
	return out, nil
}
