SWIFT ?= swift
SOURCES = Package.swift Sources Plugins Scripts Tests Samples Benchmarks/Package.swift Benchmarks/Sources

.PHONY: help demo demo-picture test test-crashes stress bench bench-short bench-footprint check check-apple sanitize coverage fuzz format setup docs

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

demo: setup ## run the Journal sample's demonstration
	@$(SWIFT) run -q Journal demo

demo-picture: setup ## draw the README's picture of the demo, on a quiet machine
	@SWIFT='$(SWIFT)' Scripts/demo-picture.sh

test: setup ## build and run the tests (ARGS='--filter Plan' for a part), and list the slowest
	@SWIFT='$(SWIFT)' Scripts/test.sh $(ARGS)

test-crashes: setup ## build and run the crash and fault tests in short form, on Linux
	@SWIFT='$(SWIFT)' Scripts/test.sh --crashes $(ARGS)

bench: setup ## measure against rivals and limits, in four minutes on a quiet machine, and draw it (ARGS='--only schema' for a part)
	@$(SWIFT) build --package-path Benchmarks -c release --product bench
	@$(SWIFT) run --package-path Benchmarks -c release --skip-build bench $(or $(ARGS),--picture Documentation/benchmarks.svg)

bench-short: setup ## try every benchmark, so that none rots; says nothing about time
	@$(SWIFT) run --package-path Benchmarks bench --effort short

bench-footprint: setup ## time clean builds, and weigh what linking each library adds
	@SWIFT='$(SWIFT)' Benchmarks/footprint.sh

stress: setup ## run the crash and fault tests, and those that "make test" samples, at length, in two to three hours, and the mutation tests
	@$(SWIFT) run -c release stress
	@LONG_TESTS=1 SWIFT='$(SWIFT)' Scripts/test.sh --filter 'LockEditsTests|ShapedMigratorTests|CrossingTests|ConditionTests|PairTests'
	@SWIFT='$(SWIFT)' Scripts/mutants.sh

docs: ## build the documentation into the folder site
	@SWIFT='$(SWIFT)' Scripts/docs.sh

check: setup ## lint the code and the files, and check what Apple's systems have and compile
	@$(SWIFT) format lint --strict --recursive $(SOURCES)
	@Scripts/check.sh
	@$(SWIFT) build -q -c release --target AppMigrations
	@SWIFT='$(SWIFT)' Scripts/availability.sh
	@SWIFT='$(SWIFT)' Scripts/apple-branches.sh libraries

check-apple: setup ## compile the branches for Apple's platforms, and run the tests in macOS's (minutes at first)
	@SWIFT='$(SWIFT)' Scripts/apple-branches.sh

sanitize: setup ## run the tests under the thread and the address sanitizer
	@SWIFT='$(SWIFT)' Scripts/sanitize.sh

coverage: setup ## run the tests, and list the lines that they do not run
	@SWIFT='$(SWIFT)' Scripts/coverage.sh

format: ## format the Swift code in place
	@$(SWIFT) format --in-place --recursive $(SOURCES)

fuzz: setup ## fuzz the parsers with libFuzzer: TIME=<seconds> or RUNS=<inputs> for each
	@SWIFT='$(SWIFT)' Scripts/fuzz.sh

setup: ## install what building on Linux needs (the others do this first)
	@SWIFT='$(SWIFT)' Scripts/setup.sh
