package journal

import (
	"crypto/sha256"
	"encoding/binary"
)

// digest is a link of a chain: each covers the link before it and every field
// of its row, so that no row can change, vanish or move unseen (RELIABILITY 9).
type digest [sha256.Size]byte

// link is the end of a chain: the last number given and its digest. The zero
// link stands before the first row.
type link struct {
	seq  int64
	hash digest
}

// hasher gathers fields unambiguously: numbers in 8 bytes, the rest with its
// length first.
type hasher struct{ buf []byte }

func newHasher(domain string, prev digest, room int) *hasher {
	h := &hasher{make([]byte, 0, 256+room)}
	h.text(domain)
	h.buf = append(h.buf, prev[:]...)
	return h
}

func (h *hasher) num(v int64) { h.buf = binary.BigEndian.AppendUint64(h.buf, uint64(v)) }

func (h *hasher) bytes(b []byte) {
	h.num(int64(len(b)))
	h.buf = append(h.buf, b...)
}

func (h *hasher) text(s string) {
	h.num(int64(len(s)))
	h.buf = append(h.buf, s...)
}

func (h *hasher) sum() digest { return sha256.Sum256(h.buf) }

// hashEvent is the digest of an event row.
func hashEvent(prev digest, e Event) digest {
	h := newHasher("event/1", prev, len(e.Body))
	h.num(int64(e.ID))
	h.text(string(e.MessageID))
	h.text(string(e.Kind))
	h.text(string(e.Lane))
	h.bytes(e.Body)
	h.text(e.Counter)
	h.num(bit(e.Test)<<1 | bit(e.Fact))
	h.num(e.CreatedAt.UnixMilli())
	return h.sum()
}

// hashTransition is the digest of a transition row.
func hashTransition(prev digest, t transition) digest {
	h := newHasher("transition/1", prev, len(t.detail)+len(t.evidence)+len(t.result))
	for _, v := range []int64{t.seq, int64(t.event), t.n, t.at, int64(t.attempt), int64(t.fence), int64(t.term), bit(t.result != nil)} {
		h.num(v)
	}
	for _, s := range []string{string(t.step), string(t.holder), string(t.reason), t.detail, t.evidence} {
		h.text(s)
	}
	h.bytes(t.result)
	return h.sum()
}

// bodyDigest is what an archived id remembers of its event, to tell a repeat
// from a conflict.
func bodyDigest(k Kind, body []byte) digest {
	h := newHasher("body/1", digest{}, len(body))
	h.text(string(k))
	h.bytes(body)
	return h.sum()
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// scan takes a column of 32 bytes; the table admits no other length.
func (d *digest) scan(b []byte) { copy(d[:], b) }
