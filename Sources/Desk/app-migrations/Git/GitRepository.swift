import Foundation
import MigrationDiagnostics
import MigrationTools

/// The Git repository that holds a folder of migrations, read with the program `git`.
struct GitRepository {
    /// A commit, with the name by which a person knows it.
    struct Commit {
        let name: String
        let id: String
    }

    private let git: GitProgram
    /// The folder's path in the work tree, with a slash at its end; empty for the work tree itself.
    private let prefix: String

    /// Finds the repository of a folder.
    ///
    /// - Throws: ``Failure``, if there is no program `git`, or the folder is in no work tree.
    init(of folder: URL) throws {
        git = try GitProgram(in: folder)
        let shown = try git.run("rev-parse", "--show-prefix")
        guard shown.status == 0 else {
            let isOutside = shown.errors.contains("not a git repository")
            throw Failure(
                at: .file(folder.path),
                isOutside ? "the folder is not in a Git repository" : "git cannot read it: \(shown.reason)",
                remedy: isOutside
                    ? "Leave out --since, or run the command in a clone of the repository."
                    : "Do what git asks for, or leave out --since.")
        }
        prefix = shown.text
    }

    /// The default branch of the remote `origin`, as it was fetched last; nil if it is not known.
    var defaultBranch: Commit? {
        get throws {
            let name = try git.run("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
            guard name.status == 0 else { return nil }
            return try find(name.text)
        }
    }

    /// Returns the commit that a ref names.
    ///
    /// - Throws: ``Failure``, if the repository does not have it.
    func commit(_ ref: String) throws -> Commit {
        guard let commit = try find(ref) else {
            let branch = ref.split(separator: "/", maxSplits: 1)
            let fetch =
                branch.count == 2 && branch[0] == "origin"
                ? "Fetch it: git fetch origin \(branch[1]):refs/remotes/\(ref)."
                : "Pass the name of a branch, a tag or a commit that `git log` knows."
            throw Failure("The repository has no commit \(ref)", remedy: fetch)
        }
        return commit
    }

    private func find(_ ref: String) throws -> Commit? {
        // git would take it for an option.
        guard !ref.isEmpty, !ref.hasPrefix("-") else { return nil }
        let found = try git.run("rev-parse", "--verify", "--quiet", "\(ref)^{commit}")
        return found.status == 0 && !found.text.isEmpty ? Commit(name: ref, id: found.text) : nil
    }

    /// Returns the migrations of a branch, and those that it shares with the files of today.
    func migrations(on branch: Commit) throws -> BranchMigrations {
        // A shallow clone may lack the commit at which the branches part.
        let base = try git.run("merge-base", branch.id, "HEAD")
        return BranchMigrations(
            name: branch.name, files: try files(at: branch.id),
            shared: try base.status == 0 ? files(at: base.text) : nil)
    }

    /// Returns the files of the folder in a commit, by name; none if the folder was not there.
    private func files(at commit: String) throws -> [String: Data] {
        var arguments = ["ls-tree", "-z", "--full-tree", commit]
        if !prefix.isEmpty { arguments.append(prefix) }
        let listing = try git.run(arguments, input: nil)
        try check(listing, reading: commit)
        // Each entry: mode, type, id, a tab, and the path.
        let entries = listing.output.split(separator: 0).compactMap { entry -> (name: String, id: String)? in
            guard let tab = entry.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
            let words = String(decoding: entry[..<tab], as: UTF8.self).split(separator: " ")
            let path = String(decoding: entry[(tab + 1)...], as: UTF8.self)
            guard words.count == 3, words[1] == "blob", path.hasPrefix(prefix) else { return nil }
            return (String(path.dropFirst(prefix.count)), String(words[2]))
        }
        let contents = try contents(entries.map(\.id))
        return Dictionary(zip(entries.map(\.name), contents), uniquingKeysWith: { $1 })
    }

    /// Reads blobs, in order (git-cat-file, Batch output).
    private func contents(_ ids: [String]) throws -> [Data] {
        guard !ids.isEmpty else { return [] }
        let batch = try git.run(
            ["cat-file", "--batch"], input: Data((ids.joined(separator: "\n") + "\n").utf8))
        try check(batch, reading: "the files")
        var rest = batch.output[...]
        return try ids.map { id in
            // "<id> blob <size>", a line break, the contents, and a line break.
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
                let size = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ").last.flatMap({
                    Int($0)
                }),
                rest.distance(from: end, to: rest.endIndex) > size
            else {
                throw Failure(
                    "git did not return file \(id)", remedy: "Check the repository with `git fsck`.")
            }
            let start = rest.index(after: end)
            defer { rest = rest.dropFirst(start - rest.startIndex + size + 1) }
            return Data(rest[start..<rest.index(start, offsetBy: size)])
        }
    }

    private func check(_ result: GitProgram.Result, reading subject: String) throws {
        guard result.status != 0 else { return }
        throw Failure(
            "git cannot read \(subject): \(result.reason)",
            remedy: "Check the repository with `git fsck`, or leave out --since.")
    }
}
