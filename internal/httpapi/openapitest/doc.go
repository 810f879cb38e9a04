// Package openapitest holds the doors' tests to the document: every response
// that passes through [Spec.Transport] must be one that /openapi.json promises,
// by path, method, status, content type, required headers and schema. A route,
// a status or a field that the document does not know fails the test that met
// it, so the document cannot fall behind the code.
//
// It understands what our documents use of OpenAPI 3.1: literal and one-segment
// templated paths, references inside the document, JSON Schema 2020-12 (formats
// asserted). Schemas are compiled once, at [Parse]; a document with a reference
// that leads nowhere is an error there.
package openapitest
