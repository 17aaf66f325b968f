import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(
    "app-migrations check --since", .timed,
    .needs(.git))
struct SinceTests {
    @Test("accepts new migrations, comments, and edited down migrations")
    func nothing() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE d(x);", to: "4_d.sql")
        try clone.write("-- Why.\nCREATE   TABLE b(x);\r\n", to: "2_b.sql")
        try clone.write("DROP TABLE IF EXISTS c;", to: "3_c.down.sql")
        let run = try await clone.run("check --since main")
        #expect(
            run.output.hasSuffix("4 migrations checked, and compared with main: 0 errors, 1 warning\n"),
            "\(run)")
        #expect(run.status == 0)
    }

    @Test("reports migrations that were edited, renamed or removed, and new ones that are older")
    func changes() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE a(x, y);", to: "1_a.sql")
        try clone.remove("2_b.sql")
        try clone.write("CREATE TABLE b(x);", to: "2_better.sql")
        try clone.remove("3_c.sql")
        try clone.remove("3_c.down.sql")
        try clone.write("CREATE TABLE c(x);", to: "0_c.sql")
        let expected = [
            """
            0_c.sql:1: error: It is new, but older than 3_c.sql, the newest migration on main: on devices that have that one, \
            it runs out of order. Rename it to the present time. [older-than-branch]
            """,
            """
            1_a.sql:1: error: It was edited after it was merged into main: devices that have it never run the edit. Undo the \
            edit, and write a new migration. [edited]
            """,
            """
            2_better.sql:1: error: Version 2 is called 2_b.sql on main. Give the file that name back, or a version of its own. \
            [renamed]
            """,
            """
            3_c.sql:1: error: It is on main, and missing here: devices that have it are at a version that no file has. Put it \
            back, and undo its change in a new migration. [removed]
            """,
        ]
        #expect(try await clone.check() == expected)
        // It makes no difference whether the changes are committed, and Git's rename detection has no say.
        try await clone.git("checkout", "--quiet", "-b", "feature")
        try await clone.commit()
        #expect(try await clone.check() == expected)
    }

    @Test("reports settings that were edited, unless they say only what older builds can do")
    func settings() async throws {
        let clone = try await GitClone()
        try clone.write("-- migrations: compatible, foreign-keys=deferred\nCREATE TABLE a(x);", to: "1_a.sql")
        try clone.write("-- migrations: foreign-keys=immediate\nCREATE TABLE b(x);", to: "2_b.sql")
        let found = try await clone.check().filter { !$0.hasPrefix("3_c") }
        #expect(
            found == [
                """
                2_b.sql:1: error: Its settings were edited after it was merged into main: devices that have it never run the \
                edit. Undo the edit, and write a new migration. [edited]
                """
            ])
    }

    @Test("reports a baseline that was edited after it was merged")
    func editedBaseline() async throws {
        let clone = try await GitClone()
        #expect(try await clone.run("squash --before 2").status == 0)
        try await clone.commit()
        #expect(try await clone.check() == [])
        let name = "2_baseline.sql"
        let text = try String(
            contentsOf: clone.folder.appendingPathComponent("Migrations/\(name)"), encoding: .utf8)
        try clone.write(text + "\nCREATE TABLE more(x);", to: name)
        #expect(try await clone.check().map { $0.hasSuffix("[edited]") } == [true])
    }

    @Test("reports a baseline into which an edited file was squashed")
    func squashedEdit() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE a(x, y);", to: "1_a.sql")
        #expect(try await clone.run("squash --before 2").status == 0)
        #expect(
            try await clone.check() == [
                """
                2_baseline.sql:1: error: It makes something else than the files on main that it replaces: table `a`: \
                column `y` is missing after the files. Squash those files, and write a new migration for the edit. [edited]
                """
            ])
        let other = try await GitClone()
        #expect(try await other.run("squash --before 2").status == 0)
        #expect(try await other.check() == [])
    }

    @Test("accepts a baseline of files that the branch changed later")
    func squashedBeforeEdit() async throws {
        let clone = try await GitClone()
        try await clone.git("checkout", "--quiet", "-b", "feature")
        #expect(try await clone.run("squash --before 2").status == 0)
        try await clone.commit()
        try await clone.git("checkout", "--quiet", "main")
        try clone.write("CREATE TABLE a(x, y);", to: "1_a.sql")
        try await clone.commit()
        try await clone.git("checkout", "--quiet", "feature")
        #expect(try await clone.check() == [])
    }

    @Test("says that it cannot compare a baseline into which a file was squashed that the branch lacks")
    func squashedNewFile() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE d(x);", to: "4_d.sql")
        #expect(try await clone.run("squash --before 4").status == 0)
        #expect(
            try await clone.check() == [
                """
                4_baseline.sql:1: note: It was not compared with the files on main that it replaces: 4 is not there. [untried]
                """
            ])
    }

    @Test("allows an older or an edited file with a comment")
    func allowed() async throws {
        let clone = try await GitClone()
        try clone.write("-- allow: edited\nCREATE TABLE a(x, y);", to: "1_a.sql")
        try clone.write("-- allow: older-than-branch\nCREATE TABLE z(x);", to: "0_z.sql")
        #expect(try await clone.check() == [])
    }

    @Test("does not blame files for what the branch did since they parted")
    func parted() async throws {
        let clone = try await GitClone()
        try await clone.git("branch", "feature")
        try clone.write("CREATE TABLE a(x, y);", to: "1_a.sql")
        try clone.remove("3_c.sql")
        try clone.remove("3_c.down.sql")
        try clone.write("CREATE TABLE e(x);", to: "5_e.sql")
        try await clone.commit()
        try await clone.git("checkout", "--quiet", "feature")
        #expect(try await clone.check() == [])
        try clone.write("CREATE TABLE d(x);", to: "4_d.sql")
        #expect(
            try await clone.check().last == """
                4_d.sql:1: error: It is new, but older than 5_e.sql, the newest migration on main: on devices that have that \
                one, it runs out of order. Rename it to the present time. [older-than-branch]
                """)
    }

    @Test("compares migrations in Swift by name")
    func swift() async throws {
        let clone = try await GitClone()
        try clone.write("// allow: untried\nstruct Fill {}", to: "4_Fill.swift")
        try await clone.commit()
        try clone.write("// allow: untried\nstruct Fill { let rows = 1 }", to: "4_Fill.swift")
        #expect(try await clone.check() == [])
        try clone.remove("4_Fill.swift")
        #expect(
            try await clone.check().last?.hasPrefix("4_Fill.swift:1: error: It is on main, and missing")
                == true)
    }

    /// Edits the first migration, so that a comparison finds that.
    private func expectsEdit(_ clone: GitClone, _ arguments: String, _ comment: Comment) async throws {
        try clone.write("CREATE TABLE a(edited);", to: "1_a.sql")
        let findings = try await clone.check(arguments)
        #expect(
            findings.first?.hasPrefix("1_a.sql:1: error: It was edited after it was merged") == true, comment)
    }

    @Test("reads packed refs, tags, work trees, shallow clones, and a repository above the folder")
    func kinds() async throws {
        let clone = try await GitClone()
        try await clone.git("tag", "1.0")
        try await clone.git("pack-refs", "--all")
        try await clone.git("gc", "--quiet")
        try await expectsEdit(clone, "--since 1.0", "a packed tag")
        try await clone.git("checkout", "--quiet", ".")

        let other = try Tool()
        try await clone.git("worktree", "add", "--quiet", "-b", "feature", other.folder.file("tree").path)
        try await expectsEdit(GitClone(other, at: "tree"), "--since main", "a work tree")

        let shallow = try Tool()
        try await clone.git("commit", "--quiet", "--allow-empty", "--message", "Another")
        try await clone.git(
            "clone", "--quiet", "--depth=1", "file://\(clone.tool.folder.url.path)",
            shallow.folder.file("clone").path)
        try await expectsEdit(GitClone(shallow, at: "clone"), "--since origin/main", "a shallow clone")

        let inside = try Tool()
        let outer = GitClone(inside)
        try await outer.git("init", "--quiet", "--initial-branch=main")
        try inside.write("CREATE TABLE a(x);", to: "My App [1]/Migrations/1_a.sql")
        try await outer.commit()
        try await expectsEdit(GitClone(inside, at: "My App [1]"), "--since main", "a folder of a repository")
    }

    @Test("compares with the default branch of origin unless told otherwise")
    func defaultBranch() async throws {
        let clone = try await GitClone()
        let folder = try Tool()
        try await clone.git("clone", "--quiet", clone.tool.folder.url.path, folder.folder.file("clone").path)
        let cloned = GitClone(folder, at: "clone")
        try await expectsEdit(cloned, "", "the default branch")
        let run = try await cloned.run("check --no-since")
        #expect(run.output == "✓ 3 migrations checked: nothing found\n", "\(run)")
        let both = try await cloned.run("check --since main --no-since")
        #expect(both.status == 64)
        #expect(both.errors.contains("Pass either --since or --no-since."))
        // A repository without a remote has no default branch.
        try clone.write("CREATE TABLE a(edited);", to: "1_a.sql")
        let local = try await clone.run("check")
        #expect(
            local.output == "✓ 3 migrations checked, not compared with a branch: nothing found\n", "\(local)")
    }

    @Test("fails in CI if there is no branch to compare with, unless told otherwise")
    func continuousIntegration() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE a(edited);", to: "1_a.sql")
        let environment = GitClone.environment.merging(["CI": "true"]) { $1 }
        let run = try await clone.run("check", environment: environment)
        #expect(run.status == 1)
        #expect(run.output == "3 migrations checked, not compared with a branch: nothing found\n", "\(run)")
        #expect(
            run.errors == """
                error: The files were compared with no branch, so nobody would notice an edited migration.
                Fetch the branch and pass it, as in --since origin/main, or pass --no-since.

                """)
        #expect(try await clone.run("check --no-since", environment: environment).status == 0)
        let compared = try await clone.run("check --since main", environment: environment)
        #expect(compared.output.contains("[edited]"), "\(compared)")
    }

    @Test("works in a hook, which sets variables about the repository")
    func hook() async throws {
        let clone = try await GitClone()
        try clone.write("CREATE TABLE a(edited);", to: "1_a.sql")
        let environment = GitClone.environment.merging(["GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere"])
        { $1 }
        let run = try await clone.run("check --since main", environment: environment)
        #expect(run.output.contains("[edited]"), "\(run)")
    }

    @Test("says what is wrong with the ref, the folder or Git")
    func errors() async throws {
        let clone = try await GitClone()
        func errors(_ arguments: String, in clone: GitClone, path: String? = nil) async throws -> String {
            var environment = GitClone.environment
            if let path { environment["PATH"] = path }
            let run = try await clone.run("check \(arguments)", environment: environment)
            #expect(run.status == 1)
            #expect(run.output == "")
            return run.errors
        }
        #expect(
            try await errors("--since nowhere", in: clone) == """
                error: The repository has no commit nowhere.
                Pass the name of a branch, a tag or a commit that `git log` knows.

                """)
        #expect(
            try await errors("--since origin/main", in: clone) == """
                error: The repository has no commit origin/main.
                Fetch it: git fetch origin main:refs/remotes/origin/main.

                """)
        #expect(
            try await errors("--since=--all", in: clone).hasPrefix(
                "error: The repository has no commit --all."))
        let outside = GitClone(try Tool(["1_a.sql": "SELECT 1;"]))
        #expect(
            try await errors("--since main", in: outside) == """
                error: \(outside.folder.path)/Migrations: the folder is not in a Git repository.
                Leave out --since, or run the command in a clone of the repository.

                """)
        #expect(
            try await errors("--since main", in: clone, path: "/nowhere") == """
                error: The program git was not found.
                Install Git, or leave out --since: then the files are not compared with a branch.

                """)
        #expect(
            try await errors("--since main --directory nowhere", in: clone).contains(
                "the folder does not exist"))
        // Without --since, no Git is needed.
        let run = try await outside.run("check", environment: ["PATH": "/nowhere"])
        #expect(run.output == "✓ 1 migration checked, not compared with a branch: nothing found\n")
    }
}
