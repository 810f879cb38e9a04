// Package deps holds the test of scripts/deps, which installs what a machine
// lacks. No machine here lacks everything, so the test makes machines out of a
// folder of stand-ins on PATH: a package manager that writes down what it was
// asked, an id that is not root, a sudo that passes on. What is asked of the
// manager, and what is said before, is compared.
package deps
