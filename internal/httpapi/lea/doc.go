// Package lea is the HTTP door of the competences: the shadow cycle and the
// persist that closes it, and what there is to read about them.
//
// Every route wants a bearer token, on the unix socket too: a competence
// belongs to the machine that taught it, and the token is what names the
// machine (seed §6). The order of checks is fixed, and each route keeps to it:
//
//	host (the server) → 401 → 415 → 413 → everything about the body
//	(competences.Service.Persist goes on from there)
//
// One table lists the operations. It makes the routes and the OpenAPI document
// alike, so that neither promises what the other does not keep; one table maps
// each refusal to its status. An error is problem+json (RFC 9457) with code,
// retryable, correlation_id and detail, and with what helps to mend the
// request: problems with their JSON pointers, findings, valid values.
//
// An answer to a repeated persist is the first answer, byte by byte, with
// status 200 and the header Idempotent-Replay.
package lea
