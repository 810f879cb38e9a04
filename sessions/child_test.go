package sessions_test

// deliverMain is the process that the fault tests kill.
func deliverMain(args []string) int { return 0 }
