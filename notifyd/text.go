package notifyd

import (
	"errors"
	"fmt"

	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// orchestrator is who posts notifications that name no sender (ARKA §6).
const orchestrator = "Orchestrateur"

// notification is what the reader's pane shows. Its words are fixed by ARKA §2
// and §11; it never sums up the message, so that the reader has to read it. The
// profile adds its trailer.
func notification(s *settings, p *parcel) string {
	e := p.envelope
	pointer := messaging.Pointer{ID: pointedAt(e)}.String()
	switch p.ticket.Event.Kind {
	case journal.KindReturn:
		return fmt.Sprintf("NOTIFICATION: session %s non active — message non livré. Escalade : %s.\n%s",
			noted(e, metaAgent), noted(e, metaEscalated), pointer)
	case journal.KindEscalation:
		return fmt.Sprintf("NOTIFICATION: [Escalade] @%s — session %s non active, message de @%s non livré : %s — [Message-READ]",
			e.ToAgent, noted(e, metaAgent), orElse(e.Sender, orchestrator), pointer)
	default:
		return "NOTIFICATION: " + chatLine(s, p).String()
	}
}

// chatLine is the envelope as people write it in a chat (ARKA §2).
func chatLine(s *settings, p *parcel) messaging.Chat {
	e := p.envelope
	to := e.ToAgent
	if to == "" {
		if role, ok := s.directory.Allowed(p.address.Session); ok {
			to = string(role)
		}
	}
	return messaging.Chat{
		To: messaging.Role(to), From: messaging.Role(orElse(e.Sender, orchestrator)), ID: pointedAt(e),
	}
}

// pointedAt is the message that the reader is to pull: the one that the pointer
// names, else the notification itself.
func pointedAt(e messaging.Envelope) messaging.ID {
	if p, err := messaging.ParsePointer(e.Resource.Pointer); err == nil && p.ID != "" {
		return p.ID
	}
	return e.MessageID
}

func isMissing(err error) bool { return errors.Is(err, sessions.ErrMissing) }
