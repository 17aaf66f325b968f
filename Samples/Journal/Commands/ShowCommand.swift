import ArgumentParser
import TextOutput

/// Prints the contents of a folder of data.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the entries, the settings and the attachments.")

    @OptionGroup var options: DataOptions

    func run() throws {
        let contents = try Contents(of: options.folder)
        let style = Style()

        print(style.heading("Entries"))
        for entry in contents.entries {
            let notes = entry.tags.map { "#\($0)" } + [entry.mood.map { "(\($0))" }].compactMap { $0 }
            print("  \(entry.day)  " + ([entry.text] + notes.map(style.faint)).joined(separator: "  "))
        }

        print("\n" + style.heading("Settings"))
        for line in contents.settings.split(separator: "\n") { print("  \(line)") }

        print("\n" + style.heading("Attachments"))
        let width = contents.attachments.map(\.path.count).max() ?? 0
        for (path, text) in contents.attachments {
            print("  \(path.padded(to: width))  \(style.faint(text.trimmingSuffix(while: \.isNewline)))")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while isCut: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isCut(last) { text.removeLast() }
        return text
    }
}
