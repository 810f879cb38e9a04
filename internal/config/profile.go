package config

import "time"

// Profile overrides a provider profile key by key (CONTRACT "Provider
// profiles"). A key that is absent is nil and keeps the built-in value. What the
// values mean, and whether a pattern compiles, is for sessions to say.
type Profile struct {
	Programs   *[]string      `yaml:"programs"`
	Prompt     *string        `yaml:"prompt"`
	Empty      *string        `yaml:"empty"`
	Busy       *[]string      `yaml:"busy"`
	Dialog     *[]string      `yaml:"dialog"`
	Trailer    *string        `yaml:"trailer"`
	Settle     *time.Duration `yaml:"settle"`
	Submit     *string        `yaml:"submit"`
	Proof      *string        `yaml:"proof"`
	Transcript *string        `yaml:"transcript"`
	WaitIdle   *bool          `yaml:"wait_idle"`
}
