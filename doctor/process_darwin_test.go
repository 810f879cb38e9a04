package doctor

const parentEnv = "DOCTOR_TEST_PARENT"

// beParent has nothing to show where no parent-death signal exists.
func beParent() error { return nil }
