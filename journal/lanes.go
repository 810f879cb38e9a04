package journal

import (
	"context"
	"slices"
	"time"
)

// laneHeads walks from lane to lane along the primary key: its cost is that of
// the lanes, not of what is queued in them.
const laneHeads = `WITH RECURSIVE l(lane) AS (
	SELECT min(lane) FROM work
	UNION ALL
	SELECT (SELECT min(lane) FROM work WHERE lane > l.lane) FROM l WHERE l.lane IS NOT NULL)
	SELECT w.lane, w.kind, w.state, w.due, w.lease_until, w.boot, w.term
	FROM l JOIN work w ON w.lane = l.lane
		AND w.event_id = (SELECT event_id FROM work WHERE lane = l.lane ORDER BY event_id LIMIT 1)
	WHERE l.lane IS NOT NULL`

// laneHead is the first work of a lane.
type laneHead struct {
	lane       Lane
	kind       Kind
	state      State
	due, lease time.Duration
	boot       string
	term       Term
}

// ReadyLanes lists the lanes whose head a daemon of the current term can claim
// now, of the given kinds (none: all), and when the next one comes due by
// itself (zero: never). Work of the current term counts as ready when its lease
// has run out: a daemon extends the tickets it keeps.
func (j *Journal) ReadyLanes(ctx context.Context, kinds ...Kind) (ready []Lane, nextDue time.Time, err error) {
	err = j.view(ctx, func(tx *Tx) error {
		ready, nextDue, err = tx.readyLanes(kinds)
		return err
	})
	return ready, nextDue, err
}

func (tx *Tx) readyLanes(kinds []Kind) (ready []Lane, nextDue time.Time, err error) {
	var term Term
	if err := tx.sql.QueryRow(`SELECT coalesce((SELECT term FROM leader WHERE live = 1), 0)`).Scan(&term); err != nil {
		return nil, nextDue, err
	}
	heads, err := tx.laneHeads()
	if err != nil {
		return nil, nextDue, err
	}
	boot, now := tx.j.clock.Boot()
	var next time.Duration
	for _, h := range heads {
		if len(kinds) > 0 && !slices.Contains(kinds, h.kind) {
			continue
		}
		wait := h.wait(boot, now, term)
		if wait <= 0 {
			ready = append(ready, h.lane)
		} else if next == 0 || wait < next {
			next = wait
		}
	}
	if next > 0 {
		nextDue = tx.j.clock.Wall().Add(next)
	}
	return ready, nextDue, nil
}

// wait is how long the head cannot be claimed yet; 0 or less is now.
func (h laneHead) wait(boot string, now time.Duration, term Term) time.Duration {
	switch {
	case h.boot != boot:
		return 0
	case h.state == Queued:
		return h.due - now
	case h.term > 0 && term > h.term:
		return 0
	}
	return h.lease - now
}

func (tx *Tx) laneHeads() (heads []laneHead, err error) {
	rows, err := tx.sql.Query(laneHeads)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h laneHead
		if err := rows.Scan(&h.lane, &h.kind, &h.state, &h.due, &h.lease, &h.boot, &h.term); err != nil {
			return nil, err
		}
		heads = append(heads, h)
	}
	return heads, rows.Err()
}
