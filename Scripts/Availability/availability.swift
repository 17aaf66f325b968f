// Two steps of Scripts/availability.sh:
//
//   availability condense <folder>: prints "USR<TAB>name<TAB>platform<TAB>version" for what the symbol graphs in the
//     folder say about Apple's platforms; the version is "never" where a symbol is not available
//   availability check <package> <symbols> <references> <allowed> <folder>...: reports what is used and too new, and
//     which integers in the folders' Swift files need 64 bits
import Foundation

typealias Version = [Int]

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data("error: \(text)\n".utf8))
    exit(1)
}

func read(_ path: String) -> Data {
    guard let data = FileManager.default.contents(atPath: path) else { fail("\(path) cannot be read") }
    return data
}

func lines(_ path: String) -> [Substring] {
    String(decoding: read(path), as: UTF8.self).split(separator: "\n")
}

// MARK: Symbol graphs

struct SymbolGraph: Decodable {
    let symbols: [Symbol]

    struct Symbol: Decodable {
        let identifier: Identifier
        let pathComponents: [String]
        let availability: [Availability]?
    }

    struct Identifier: Decodable { let precise: String }

    struct Availability: Decodable {
        let domain: String?
        let introduced: Introduced?
        let isUnconditionallyUnavailable: Bool?
    }

    struct Introduced: Decodable {
        let major: Int
        let minor: Int?
        let patch: Int?
    }
}

func condense(_ folder: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".json") {
        let graph = try JSONDecoder().decode(SymbolGraph.self, from: read("\(folder)/\(name)"))
        for symbol in graph.symbols {
            for availability in symbol.availability ?? [] {
                guard let platform = availability.domain else { continue }
                let version: String
                if availability.isUnconditionallyUnavailable == true {
                    version = "never"
                } else if let introduced = availability.introduced {
                    version = "\(introduced.major).\(introduced.minor ?? 0).\(introduced.patch ?? 0)"
                } else {
                    continue
                }
                let title = symbol.pathComponents.joined(separator: ".")
                print(symbol.identifier.precise, title, platform, version, separator: "\t")
            }
        }
    }
}

// MARK: The check

struct Package: Decodable {
    let platforms: [Platform]

    struct Platform: Decodable {
        let platformName: String
        let version: String
    }
}

func version(_ text: some StringProtocol) -> Version { text.split(separator: ".").map { Int($0) ?? 0 } }

func isNewer(_ version: Version, than other: Version) -> Bool {
    let length = max(version.count, other.count)
    let padded = [version, other].map { $0 + Array(repeating: 0, count: length - $0.count) }
    return padded[1].lexicographicallyPrecedes(padded[0])
}

// MARK: Integers

/// Finds the integers in a line of Swift that an Int of 32 bits, which watchOS has, cannot hold.
///
/// The compiler would report a literal, but not `1 << 53`, which is 0 there. A line that names a type of 64 bits is in
/// order, unless it makes an Int of it.
func wideIntegers(in line: some StringProtocol) -> [String] {
    let code = String(line).replacing(#/"(?:\\.|[^"\\])*"/#, with: "").replacing(#/\/\/.*/#, with: "")
    let isWide = code.contains(#/\b(?:U?Int64|Double)\b/#)
    let becomesInt = code.contains(#/\bU?Int\((?!clamping:|exactly:|truncatingIfNeeded:)/#)
    if isWide && !becomesInt { return [] }
    func value(_ digits: Substring) -> Int? {
        let digits = digits.filter { $0 != "_" }
        let radix = ["0x": 16, "0o": 8, "0b": 2][digits.prefix(2)]
        return radix.map { Int(digits.dropFirst(2), radix: $0) } ?? Int(digits)
    }
    let shifts = code.matches(of: #/(?<left>[\w.)\]]*)\s*&?<<=?\s*(?<count>[0-9_]+)\b/#).filter { match in
        guard let count = value(match.output.count) else { return true }
        let left = value(match.output.left) ?? 1
        return left > Int(Int32.max) >> count
    }
    // With the fraction and the exponent of a number that is no integer.
    let literals = code.matches(of: #/\b[0-9]\w*(?:\.[0-9]\w*)?/#).filter { match in
        let isInteger = match.output.hasPrefix("0x") || !match.output.contains { ".eE".contains($0) }
        return isInteger && value(match.output).map { $0 > Int32.max } ?? true
    }
    return shifts.map { String($0.output.0) } + literals.map { String($0.output) }
}

func swiftFiles(in folder: String) -> [String] {
    guard let files = FileManager.default.enumerator(atPath: folder) else { fail("\(folder) cannot be read") }
    return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
}

// MARK: Both

func check(
    package: String, symbols: String, references: String, allowed: String, folders: ArraySlice<String>
) throws {
    let platforms = try JSONDecoder().decode(Package.self, from: read(package)).platforms
    let oldest = Dictionary(
        uniqueKeysWithValues: platforms.map { ($0.platformName.lowercased(), version($0.version)) })

    /// What the oldest versions lack, with where it is available, by USR.
    var lacking: [Substring: (name: Substring, platforms: [String])] = [:]
    var known = 0
    for line in lines(symbols) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 4 else { fail("\(symbols): \(line)") }
        known += 1
        guard let minimum = oldest[fields[2].lowercased()] else { continue }
        if fields[3] == "never" {
            lacking[fields[0], default: (fields[1], [])].platforms.append("no \(fields[2])")
        } else if isNewer(version(fields[3]), than: minimum) {
            var shown = fields[3]
            while shown.hasSuffix(".0") { shown = shown.dropLast(2) }
            lacking[fields[0], default: (fields[1], [])].platforms.append("\(fields[2]) \(shown)")
        }
    }

    // "<file> <name>: <reason>"; the file may be a folder that ends with a slash.
    var allowances: [(path: Substring, name: Substring, isUsed: Bool)] = lines(allowed)
        .filter { !$0.hasPrefix("#") }
        .map { line in
            guard let space = line.firstIndex(of: " "), let end = line.range(of: ": ")?.lowerBound,
                space < end,
                line[end...].count > 3
            else { fail("\(allowed): write \"<file> <symbol>: <reason>\", not \"\(line)\"") }
            return (line[..<space], line[line.index(after: space)..<end], false)
        }

    var found: Set<String> = []
    func report(_ name: some StringProtocol, at place: some StringProtocol, _ problem: String) {
        let index = allowances.firstIndex {
            $0.name == name
                && ($0.path.hasSuffix("/") ? place.hasPrefix($0.path) : place.hasPrefix($0.path + ":"))
        }
        if let index {
            allowances[index].isUsed = true
        } else {
            found.insert("\(place): error: \(name) \(problem)")
        }
    }
    let all = lines(references)
    for line in all {
        let fields = line.split(separator: "\t")
        guard fields.count == 2, let symbol = lacking[fields[1]] else { continue }
        report(
            symbol.name, at: fields[0],
            "needs \(Set(symbol.platforms).sorted().joined(separator: ", "))")
    }
    for file in folders.flatMap(swiftFiles) {
        let text = String(decoding: read(file), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            for integer in wideIntegers(in: line) {
                report(
                    integer, at: "\(file):\(index + 1)",
                    "needs more than the 32 bits of watchOS: choose a smaller one, or name a type of 64 bits")
            }
        }
    }
    // Without them the check would say nothing, whatever is used.
    if known < 1_000 || all.count < 10_000 {
        fail("only \(known) symbols with an availability and \(all.count) references were found")
    }
    let unused = allowances.filter { !$0.isUsed }
        .map { "\(allowed): error: \($0.name) is allowed in \($0.path) and not used there" }
    let problems = found.sorted { $0.localizedStandardCompare($1) == .orderedAscending } + unused
    if problems.isEmpty { return }
    FileHandle.standardError.write(Data((problems.joined(separator: "\n") + "\n").utf8))
    exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "condense" where arguments.count == 2: try condense(arguments[2])
case "check" where arguments.count > 5:
    try check(
        package: arguments[2], symbols: arguments[3], references: arguments[4], allowed: arguments[5],
        folders: arguments[6...])
default: fail("see the head of the source file")
}
