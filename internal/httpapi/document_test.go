package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestDocumentIsServedAsMerged(t *testing.T) {
	t.Parallel()
	d := openDoor(t, part(http.NotFound))
	got := d.unix("GET", "/openapi.json", "").want(t, 200, "")
	info, _ := got.fields["info"].(map[string]any)
	paths, _ := got.fields["paths"].(map[string]any)
	if info["version"] != "v1.2.3" || paths["/api/v1/lea/x"] == nil || paths["/api/v1/notify"] == nil {
		t.Errorf("document %s", got.body)
	}
}

func TestPartsCannotContradictEachOther(t *testing.T) {
	t.Parallel()
	for name, fragment := range map[string]string{
		"path of ours":   `{"paths":{"/healthz":{}}}`,
		"schema of ours": `{"components":{"schemas":{"Problem":{}}}}`,
		"not JSON":       `{`,
	} {
		if _, err := Document("v1", Part{OpenAPI: []byte(fragment)}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	two := part(nil)
	if _, err := Document("v1", two, two); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("the same part twice: %v", err)
	}
	if _, err := Document("v1", Part{}, part(nil)); err != nil {
		t.Error(err)
	}
}

// TestEveryRouteIsDescribed asks for each operation of the document, so that
// none is described that does not exist.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	doc, err := object(base)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			got := d.unix(strings.ToUpper(method), strings.Replace(path, "{id}", "none", 1), "")
			if got.status == http.StatusMethodNotAllowed || got.fields["detail"] == "there is no such path" {
				t.Errorf("%s %s is described and not there", method, path)
			}
		}
	}
}
