package httpapi

import (
	_ "embed"
	"encoding/json"
	"net/http"

	"arkamsg/internal/errkind"
)

//go:embed openapi/openapi.json
var base []byte

// openAPI serves the document as [Document] made it.
func (a *API) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(a.document) // the client is gone: nobody to tell
}

// Document is the OpenAPI 3.1 document: this package's own with the fragments
// of the parts merged in. A fragment may refer to our components; a path, tag
// or component that exists already is an error, so that no part can change what
// another one promised.
func Document(version string, parts ...Part) ([]byte, error) {
	doc, err := object(base)
	if err != nil {
		return nil, err
	}
	doc["info"].(map[string]any)["version"] = version
	for _, p := range parts {
		if len(p.OpenAPI) == 0 {
			continue
		}
		fragment, err := object(p.OpenAPI)
		if err != nil {
			return nil, err
		}
		if err := merge(doc, fragment); err != nil {
			return nil, err
		}
	}
	return json.MarshalIndent(doc, "", "  ")
}

func object(data []byte) (map[string]any, error) {
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, errkind.New(errkind.Internal, "an OpenAPI document is not a JSON object").Wrap(err)
	}
	return doc, nil
}

func merge(doc, fragment map[string]any) error {
	tags, _ := fragment["tags"].([]any)
	doc["tags"] = append(doc["tags"].([]any), tags...)
	if err := adopt(doc["paths"].(map[string]any), fragment["paths"], "path"); err != nil {
		return err
	}
	ours := doc["components"].(map[string]any)
	theirs, _ := fragment["components"].(map[string]any)
	for section, entries := range theirs {
		if ours[section] == nil {
			ours[section] = map[string]any{}
		}
		if err := adopt(ours[section].(map[string]any), entries, section); err != nil {
			return err
		}
	}
	return nil
}

func adopt(ours map[string]any, theirs any, what string) error {
	entries, _ := theirs.(map[string]any)
	for name, entry := range entries {
		if _, taken := ours[name]; taken {
			return errkind.New(errkind.Internal, "OpenAPI %s %q is described twice", what, name)
		}
		ours[name] = entry
	}
	return nil
}
