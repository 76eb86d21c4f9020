import Foundation
import TestSupport
import Testing

@testable import tidemark

/// The units of the package that make backups, against the program.
@Suite(.timeLimit(.minutes(10)))
struct BackupUnitTests {
    private let folder: TemporaryDirectory
    private var data: String { self.folder.path + "/data" }
    private var backups: String { self.folder.path + "/backups" }

    init() throws {
        self.folder = try TemporaryDirectory()
    }

    /// The commands of a unit, as systemd would run them, with folders of this test.
    private func commands(_ name: String) throws -> [String] {
        let unit = try PackagingFile.unit(name)
        return try #require(unit["ExecStart"]).map { command in
            command.replacing("$$", with: "$").replacing("%%", with: "%")
                .replacing("${BACKUPS}", with: self.backups)
                .replacing("/usr/bin/tidemark", with: ChildProcess.tidemark.path)
                .replacing("/run/tidemark", with: self.folder.path)
        }
    }

    private func run(_ command: String) async throws -> ChildProcess.Outcome {
        try await PackagingFile.run(
            "/bin/sh",
            "-c",
            command,
            environment: ["TIDEMARK_DATA": self.data, "BACKUPS": self.backups, "KEEP_DAYS": "14"]
        )
    }

    @Test(arguments: ["tidemark-follow.service", "tidemark-backup.service"])
    func `a unit has the account and the folder of the server's`(name: String) throws {
        let server = try PackagingFile.unit()
        let unit = try PackagingFile.unit(name)
        for key in ["User", "Group", "UMask"] { #expect(unit[key] == server[key], "\(key)") }
        let environment = try #require(unit["Environment"])
        #expect(environment.first == "TIDEMARK_DATA=/var/lib/tidemark")
        #expect(environment.contains("BACKUPS=/var/backups/tidemark"))
        let folders = try PackagingFile.text("tidemark.tmpfiles")
        #expect(folders.contains("\nd /var/backups/tidemark 0700 tidemark tidemark -\n"))
    }

    @Test
    func `the nightly commands make a backup, rehearse it, and remove what is older than two weeks`()
        async throws
    {
        try await ServerProcess.makeStore(in: self.data)
        let commands = try self.commands("tidemark-backup.service")
        #expect(commands.count == 3)
        let nightly = self.backups + "/nightly"
        let old = nightly + "/2026-01-01T02-30-00Z"
        try FileManager.default.createDirectory(
            atPath: self.backups,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        for command in commands.prefix(2) {
            let outcome = try await self.run(command)
            #expect(outcome.exitCode == 0, "\(command): \(outcome.errors)")
        }
        try FileManager.default.createDirectory(atPath: old + "/assets", withIntermediateDirectories: true)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -16 * 86_400)],
            ofItemAtPath: old
        )
        let outcome = try await self.run(commands[2])
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let kept = try FileManager.default.contentsOfDirectory(atPath: nightly)
        #expect(kept.count == 1, "\(kept)")
        #expect(kept.first?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ/) != nil, "\(kept)")
        let metrics = try String(contentsOfFile: self.folder.path + "/drill.prom", encoding: .utf8)
        #expect(metrics.contains("\ntidemark_backup_drill_success 1.0\n"))
    }

    @Test
    func `the command that follows is one that the program takes`() async throws {
        try await ServerProcess.makeStore(in: self.data)
        let command = try #require(try self.commands("tidemark-follow.service").first)
        let process = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "mkdir -m 700 \"$BACKUPS\"; exec \(command)"],
            environment: ["TIDEMARK_DATA": self.data, "BACKUPS": self.backups]
        )
        #expect(await process.find { $0.firstMatch(of: /base/) } != nil, "\(process.errorsSoFar)")
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(FileManager.default.fileExists(atPath: self.backups + "/follow"))
    }

    @Test
    func `the timer starts the nightly unit, also after a night that the machine was off`() throws {
        let timer = try PackagingFile.unit("tidemark-backup.timer")
        #expect(timer["OnCalendar"] == ["*-*-* 02:30"] && timer["Persistent"] == ["true"])
        #expect(timer["WantedBy"] == ["timers.target"])
        #expect(timer["Unit"] == nil)
    }
}
