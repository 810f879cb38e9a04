package wire

import (
	"context"
	"crypto/rand"
)

// CorrelationHeader carries the correlation id of every answer.
const CorrelationHeader = "X-Correlation-Id"

type exchangeKey struct{}

// An Exchange is what is known about a request beside the request itself. The
// outermost handler makes it; those inside add to it for the log line.
type Exchange struct {
	CorrelationID string
	Client        string // who authenticated; "" on the unix socket
	Err           error  // what the answer could not tell
}

// NewExchange returns an exchange with a fresh correlation id, and the context
// that carries it.
func NewExchange(ctx context.Context) (context.Context, *Exchange) {
	x := &Exchange{CorrelationID: rand.Text()}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// ExchangeOf returns the exchange of a request. Outside a server it is empty,
// never nil.
func ExchangeOf(ctx context.Context) *Exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		return x
	}
	return &Exchange{}
}
