SWIFT ?= swift
SOURCES = Package.swift Sources Plugins Tests Samples

.PHONY: help demo test check sanitize coverage fuzz format setup

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: setup ## run the Journal sample's demonstration
	@$(SWIFT) run -q Journal demo

test: setup ## build and run the tests
	@$(SWIFT) test --parallel

check: ## lint the Swift code and the repository's files
	@$(SWIFT) format lint --strict --recursive $(SOURCES)
	@Scripts/check.sh

sanitize: setup ## run the tests under the thread and the address sanitizer
	@SWIFT='$(SWIFT)' Scripts/sanitize.sh

coverage: setup ## run the tests, and tell what they do not run
	@SWIFT='$(SWIFT)' Scripts/coverage.sh

format: ## format the Swift code in place
	@$(SWIFT) format --in-place --recursive $(SOURCES)

fuzz: setup ## fuzz the parsers with libFuzzer: TIME=<seconds> or RUNS=<inputs> for each
	@SWIFT='$(SWIFT)' Scripts/fuzz.sh

setup: ## install what building on Linux needs (the others do this first)
	@SWIFT='$(SWIFT)' Scripts/setup.sh
