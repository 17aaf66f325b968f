import ArgumentParser

/// The option that prints JSON for programs instead of text for people.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}
