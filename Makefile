SWIFT ?= swift
SOURCES = Package.swift Sources Plugins Tests Samples

.PHONY: help demo test docs check format setup

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: setup ## run the Journal sample's demonstration
	@$(SWIFT) run -q Journal demo

test: setup ## build and run the tests
	@$(SWIFT) test --parallel

docs: ## build the documentation into the folder site
	@SWIFT='$(SWIFT)' Scripts/docs.sh

check: ## lint the Swift code and the repository's files
	@$(SWIFT) format lint --strict --recursive $(SOURCES)
	@Scripts/check.sh

format: ## format the Swift code in place
	@$(SWIFT) format --in-place --recursive $(SOURCES)

setup: ## install what building on Linux needs (demo and test do this first)
	@SWIFT='$(SWIFT)' Scripts/setup.sh
