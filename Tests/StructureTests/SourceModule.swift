import Foundation

/// The files of a module, and which of them names types of which others.
struct SourceModule {
    let name: String
    let files: [SourceFile]
    /// For each file, the files whose types it names, and those types.
    let arrows: [[Int: Set<String>]]

    init(_ name: String, in folder: String = "Sources") throws {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let root = repository.appendingPathComponent("\(folder)/\(name)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        self.init(
            name,
            try paths.filter { $0.hasSuffix(".swift") }.sorted().map {
                SourceFile(
                    path: $0,
                    code: try String(contentsOf: root.appendingPathComponent($0), encoding: .utf8))
            })
    }

    init(_ name: String, _ files: [SourceFile]) {
        self.name = name
        self.files = files
        var owners: [String: Int] = [:]
        for (index, file) in files.enumerated() { for type in file.declared { owners[type] = index } }
        arrows = files.enumerated().map { index, file in
            var arrows: [Int: Set<String>] = [:]
            for type in file.named {
                if let owner = owners[type], owner != index { arrows[owner, default: []].insert(type) }
            }
            return arrows
        }
    }

    /// The arrows that lead from a room to a later one, a sentence each, and the files that are in no room.
    func wrongArrows(_ rooms: [String]) -> [String] {
        files.indices.flatMap { index -> [String] in
            let file = files[index]
            guard let rank = file.room.flatMap(rooms.firstIndex) else {
                return ["\(name)/\(file.path) is in none of the rooms \(rooms.joined(separator: ", "))"]
            }
            return arrows[index].filter { target, _ in
                files[target].room.flatMap(rooms.firstIndex).map { $0 > rank } ?? false
            }.map { target, types in
                "\(name)/\(file.path) names \(types.sorted().joined(separator: ", ")) of \(files[target].path)"
            }.sorted()
        }
    }

    /// The largest set of files each of which leads to every other one by arrows.
    var largestCircle: [String] {
        let reached = files.indices.map(reachable)
        let circles = files.indices.map { index in reached[index].filter { reached[$0].contains(index) } }
        return (circles.max { $0.count < $1.count } ?? []).map { files[$0].path }.sorted()
    }

    private func reachable(from start: Int) -> Set<Int> {
        var reached: Set<Int> = []
        var open = Array(arrows[start].keys)
        while let next = open.popLast() { if reached.insert(next).inserted { open += arrows[next].keys } }
        return reached
    }
}
