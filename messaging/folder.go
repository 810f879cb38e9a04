package messaging

import (
	"path/filepath"

	"arkamsg/internal/durable"
)

// Folder returns the folder that holds the threads, made if it is missing: what
// to watch for new messages.
func (t *Tree) Folder() (string, error) {
	if err := durable.MkdirAll(t.root, msgDir, folderPerm); err != nil {
		return "", err
	}
	return filepath.Join(t.dir, msgDir), nil
}
