package document_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/primitives"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
)

func source() document.Source {
	return document.Source{
		ID: "saisir_texte_word", Name: "Saisir texte Word", State: document.Candidate, At: time.Date(2026, 6, 1, 16, 5, 32, 0, time.UTC),
		Steps:         []map[string]any{{"kind": "key_combo", "params": map[string]any{"keys": []any{"win", "r"}}}, {"id": "x", "kind": "wait_ms", "params": map[string]any{"ms": 3.0}, "label": "attendre"}},
		Preconditions: []any{"Word est ouvert", map[string]any{"window": "Word"}},
		SuccessMarker: map[string]any{"a": "yes", "b": "2026-01-01", "c": "multi\nligne\n", "d": nil, "e": 1.5, "f": "é: # - ", "g": ""},
		Parameters:    []map[string]any{{"name": "texte", "type": "string", "required": true}},
		Annotations:   map[string]any{"intent_fr": "saisir le texte transmis dans Word"},
		Provenance: document.Provenance{PersistID: "550e8400-e29b-41d4-a716-446655440000", ClientPersistID: "550e8400-e29b-41d4-a716-446655440001",
			MachineID: "DESKTOP-58D5CAC_windows", SessionID: "sess_1", SourcePhase: "shadow_build"},
	}
}

// Seed §7: test_yaml_schema_required_fields_present. The list is the seed's.
func TestYAMLSchemaRequiredFieldsPresent(t *testing.T) {
	data, err := document.Encode(document.Generate(source()))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("schema_version id name version learning_state intent parameters preconditions methods success_marker " +
		"failure_message_template promotion generalisation failure_log created_at last_updated_at methods_execution provenance")
	var got []string
	for line := range strings.Lines(string(data)) {
		if line[0] != ' ' && line[0] != '-' {
			got = append(got, line[:strings.IndexByte(line, ':')])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, field := range want {
		tree, _ := document.Decode(withoutField(data, field))
		if tree != nil {
			t.Errorf("a file without %s is accepted", field)
		}
	}
}

// withoutField drops a top-level field with all that belongs to it.
func withoutField(data []byte, field string) []byte {
	var out bytes.Buffer
	skip := false
	for line := range bytes.Lines(data) {
		if line[0] != ' ' && line[0] != '-' {
			skip = bytes.HasPrefix(line, []byte(field+":"))
		}
		if !skip {
			out.Write(line)
		}
	}
	return out.Bytes()
}

// Seed §7: test_post_write_roundtrip_ok.
func TestRoundTrip(t *testing.T) {
	d := document.Generate(source())
	one, err := document.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := document.Encode(document.Generate(source()))
	if !bytes.Equal(one, two) {
		t.Error("the same source must give the same bytes")
	}
	back, err := document.Decode(one)
	if err != nil || !document.Same(d, back) {
		t.Fatalf("%v\n%s", err, one)
	}
	back.Methods[0].Kind = "copy"
	if document.Same(d, back) {
		t.Error("a changed document counts as the same")
	}
	if problems := document.Check(d, primitives.Default()); problems != nil {
		t.Error(problems)
	}
}

// TestEncodeRefusesWhatDecodeWould: nothing is promised that cannot be read.
func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	for _, text := range []string{"de droite \u202e à gauche", "cloche \a", "ligne\u2028suivante"} {
		d := document.Generate(source())
		d.Intent = text
		if _, err := document.Encode(d); errkind.Of(err) != errkind.Invalid || err == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLoadRefusesWhatLies(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	data, _ := document.Encode(document.Generate(source()))
	good := string(data)
	for name, text := range map[string]string{
		"saisir_texte_word":  good,
		"another_name":       good,
		"saisir_broken":      good[:len(good)/2],
		"saisir_extra_field": strings.Replace(good, "version: 1\nlearning", "colour: red\nversion: 1\nlearning", 1),
		"saisir_promoted":    strings.Replace(good, "learning_state: candidate", "learning_state: stable", 1),
		"saisir_no_steps":    strings.Replace(good, "learning_state: candidate", "learning_state: incomplete", 1),
	} {
		_ = os.MkdirAll(filepath.Join(dir, "candidate"), 0o700)
		if err := os.WriteFile(filepath.Join(dir, "candidate", name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := document.Load(root, document.Candidate, slug.Slug(name))
		if good := name == "saisir_texte_word"; good != (err == nil) || !good && errkind.Of(err) != errkind.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
