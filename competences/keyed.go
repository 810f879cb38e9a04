package competences

import (
	"context"
	"sync"
)

// keyed is a mutex per key that lives as long as somebody wants it. The zero
// value is ready.
type keyed struct {
	mu    sync.Mutex
	locks map[string]*keyLock
}

type keyLock struct {
	turn chan struct{} // holds one token while unlocked
	refs int
}

// lock waits for the key and returns its unlock.
func (k *keyed) lock(ctx context.Context, key string) (unlock func(), err error) {
	l := k.take(key)
	select {
	case <-l.turn:
		return func() { l.turn <- struct{}{}; k.drop(key, l) }, nil
	case <-ctx.Done():
		k.drop(key, l)
		return nil, ctx.Err()
	}
}

func (k *keyed) take(key string) *keyLock {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.locks[key]
	if l == nil {
		if k.locks == nil {
			k.locks = map[string]*keyLock{}
		}
		l = &keyLock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		k.locks[key] = l
	}
	l.refs++
	return l
}

func (k *keyed) drop(key string, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.refs--; l.refs == 0 {
		delete(k.locks, key)
	}
}

// bulletin wakes everybody who waits for some persist to end. The zero value
// is ready.
type bulletin struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait returns a channel that the next post closes.
func (b *bulletin) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bulletin) post() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
