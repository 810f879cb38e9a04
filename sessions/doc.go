// Package sessions types one message into an agent's tmux pane, once, and shows
// that it arrived. (The essay follows with the hard cases.)
package sessions
