# The way in: each target is one line over the tool that does the work.
PREFIX ?= /usr/local
NAME ?= draw
OPTIONS ?= --lan
RELEASE = .build/release/activityhost

.NOTPARALLEL:
.PHONY: help start build test test-sanitize check format bench install clean

help:
	@echo "make start        build and start an activity for your network (NAME=draw OPTIONS=--lan)"
	@echo "make test         everything that is checked: format, imports, unit, pages, end to end, browser"
	@echo "make test-sanitize  the unit tests under the address and the thread sanitizer"
	@echo "make check        format and house rules only; make format puts the format right"
	@echo "make bench        measure the host with many people"
	@echo "make install      install into PREFIX=$(PREFIX)"

start: build
	@$(RELEASE) start $(NAME) $(OPTIONS)

# The first build takes a few minutes, the next ones seconds.
build:
	@Scripts/install-dependencies build
	@swift build -c release --static-swift-stdlib --product activityhost

test:
	@Scripts/install-dependencies test
	@Scripts/test

test-sanitize:
	@Scripts/install-dependencies build
	@Scripts/test-sanitize

check:
	@Scripts/check-format
	@Scripts/check-files
	@Scripts/check-imports

format:
	@swift format format --in-place --recursive --parallel Package.swift Sources Tests

bench: build
	@swift build -c release --product loadgen
	@Benchmarks/run

install: build
	@Scripts/install $(RELEASE) "$(DESTDIR)$(PREFIX)"

clean:
	@rm -rf .build .venv .stamps
