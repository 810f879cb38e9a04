package main

import (
	"net/http"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/httpapi"
	"arkamsg/internal/httpapi/lea"
)

// openapiVerb prints what the daemon serves at /openapi.json, for linting and
// for making clients without a daemon.
func (p *program) openapiVerb() *cli.Command {
	return &cli.Command{
		Name: "openapi", Usage: "print the OpenAPI document of the HTTP door", Hidden: true,
		Action: func(*cli.Context) error {
			part, err := competencePart(nil)
			if err != nil {
				return err
			}
			doc, err := httpapi.Document(version, part)
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(append(doc, '\n'))
			return err
		},
	}
}

// competencePart is the door of the competences as the daemon mounts it.
func competencePart(h http.Handler) (httpapi.Part, error) {
	doc, err := lea.OpenAPI()
	return httpapi.Part{Handler: h, Patterns: lea.Patterns, OpenAPI: doc}, err
}
