import Foundation
import TestSupport
import Testing

@testable import tidemark

/// What the package gives to systemd, against the program and its settings.
@Suite(.timeLimit(.minutes(10)))
struct ServiceFileTests {
    @Test
    func `the unit starts the server with flags that it has, as the account that the package makes`()
        async throws
    {
        let unit = try PackagingFile.unit()
        let words = try #require(unit["ExecStart"]?.first).split(separator: " ").map(String.init)
        #expect(words.prefix(2) == ["/usr/bin/tidemark", "serve"])
        let flags = words.filter { $0.hasPrefix("--") }
        #expect(flags.contains("--config"))
        #expect(try await Set(flags).isSubset(of: PackagingFile.options("tidemark", ["serve"])))
        #expect(unit["Type"] == ["notify"])
        #expect(unit["ExecReload"] == ["/bin/sh -c 'kill -HUP $MAINPID'"])
        let account = try #require(unit["User"]?.first)
        #expect(try PackagingFile.text("tidemark.sysusers").hasPrefix("u \(account) - "))
        let tmpfiles = try PackagingFile.text("tidemark.tmpfiles")
        #expect(unit["StateDirectory"] == ["tidemark"] && unit["StateDirectoryMode"] == ["0700"])
        #expect(tmpfiles.contains("\nd /var/lib/tidemark 0700 \(account) \(account) -\n"))
        #expect(unit["RuntimeDirectory"] == ["tidemark"] && unit["RuntimeDirectoryMode"] == ["0755"])
        #expect(tmpfiles.contains("\nd /run/tidemark 0755 \(account) \(account) -\n"))
        #expect(unit["Environment"] == ["TIDEMARK_DATA=/var/lib/tidemark"])
    }

    @Test
    func `the unit's limits suit the defaults of the settings`() throws {
        let unit = try PackagingFile.unit()
        func number(_ name: String) throws -> Int { try #require(unit[name]?.first.flatMap { Int($0) }) }
        #expect(try number("TimeoutStopSec") > Settings.defaults.drainSeconds)
        #expect(try number("LimitNOFILE") >= DescriptorLimit.needed(by: .defaults))
        #expect(try number("WatchdogSec") >= 60)
        for name in ["NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictNamespaces"] {
            #expect(unit[name] == ["true"], "\(name)")
        }
        #expect(unit["ProtectSystem"] == ["strict"] && unit["CapabilityBoundingSet"] == [""])
        #expect(unit["SystemCallFilter"] == ["@system-service", "~@privileged"])
    }

    /// Whether the same start may succeed later, without anybody doing anything.
    private static func mayMendItself(_ code: CommandFailure.Code) -> Bool {
        switch code {
        // An address that is taken, or a database that is away.
        case .unavailable: true
        case .usage, .data, .noStore, .cannotCreate, .noPermission, .configuration: false
        }
    }

    @Test(arguments: ["tidemark.service", "tidemark-follow.service"])
    func `a unit starts its program again after the exit codes that may mend themselves, and no other`(
        name: String
    ) throws {
        let unit = try PackagingFile.unit(name)
        #expect(unit["Restart"] == ["on-failure"])
        let codes = try #require(unit["RestartPreventExitStatus"]?.first).split(separator: " ")
        let lasting = CommandFailure.Code.allCases.filter { !Self.mayMendItself($0) }
        #expect(codes.map(String.init) == lasting.map { "\($0.rawValue)" })
    }

    @Test
    func `the exit codes of the units are those of the guides`() throws {
        let lasting = CommandFailure.Code.allCases.filter { !Self.mayMendItself($0) }.map { "\($0.rawValue)" }
        let list = lasting.dropLast().joined(separator: ", ") + " and " + (lasting.last ?? "")
        let guide = try String(
            contentsOf: Readme.repository.appendingPathComponent("Sources/tidemark/Guides/Packages.md"),
            encoding: .utf8
        )
        #expect(guide.replacing("\n", with: " ").contains("exit codes \(list)"), "\(list)")
    }

    /// The guide's place of the log, under `ProtectSystem=strict`.
    @Test
    func `the unit may write the log where the guide has it`() throws {
        let unit = try PackagingFile.unit()
        #expect(unit["LogsDirectory"] == ["tidemark"] && unit["LogsDirectoryMode"] == ["0700"])
        let guide = try String(
            contentsOf: Readme.repository.appendingPathComponent("Sources/tidemark/Guides/Production.md"),
            encoding: .utf8
        )
        let path = try #require(guide.firstMatch(of: /log_file=(\/[^`"]+)\/[a-z.]+`/)).1
        #expect(path == "/var/log/tidemark")
    }

    @Test
    func `the package's settings are the server's defaults, and metrics where the unit may write`()
        async throws
    {
        let outcome = try await ChildProcess.tidemark(
            "settings",
            "--json",
            "--config",
            PackagingFile.folder.appendingPathComponent("tidemark.json").path
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let rows = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        func value(_ name: String) -> String? {
            rows?.first { $0["name"] as? String == name }?["value"] as? String
        }
        #expect(value("listen") == "\(ListenAddress.defaults)")
        #expect(value("metrics_file")?.hasPrefix("/run/tidemark/") == true)
    }

    @Test(arguments: ["postinst", "prerm", "postrm"])
    func `a maintainer script is one for every shell, and refuses to go on after an error`(
        script: String
    ) async throws {
        let path = PackagingFile.folder.appendingPathComponent("debian/\(script)").path
        #expect(try PackagingFile.text("debian/\(script)").hasPrefix("#!/bin/sh\nset -e\n"))
        #expect(FileManager.default.isExecutableFile(atPath: path))
        for shell in ["/bin/sh", "/bin/dash", "/bin/bash"] {
            let outcome = try await PackagingFile.run(shell, "-n", path)
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(shell): \(outcome.errors)")
        }
    }

    /// Neither an upgrade nor a removal may touch the data; each argument is one that dpkg passes.
    @Test(arguments: ["upgrade", "remove", "failed-upgrade", "abort-install", "abort-upgrade", "disappear"])
    func `only purge removes data and the log, and backups stay`(action: String) async throws {
        let postrm = try PackagingFile.text("debian/postrm")
        let folder = try TemporaryDirectory()
        let data = folder.path + "/var/lib/tidemark"
        let log = folder.path + "/var/log/tidemark"
        let backup = folder.path + "/var/backups/tidemark/nightly"
        for path in [data, log, backup] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        // The script as it is, in a folder in place of the root, without the system's programs.
        let script = postrm.replacing("/var/lib/tidemark", with: data)
            .replacing("/var/log/tidemark", with: log)
            .replacing("/var/backups/tidemark", with: folder.path + "/var/backups/tidemark")
            .replacing("/run/tidemark", with: folder.path + "/run/tidemark")
            .replacing("/etc/tidemark", with: folder.path + "/etc/tidemark")
            .replacing("/usr/bin/deb-systemd-helper", with: folder.path + "/none")
            .replacing("/run/systemd/system", with: folder.path + "/none")
        #expect(try await PackagingFile.run("/bin/dash", "-c", script, "postrm", action).exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: data) && FileManager.default.fileExists(atPath: log))
        #expect(try await PackagingFile.run("/bin/dash", "-c", script, "postrm", "purge").exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: data) && !FileManager.default.fileExists(atPath: log))
        #expect(FileManager.default.fileExists(atPath: backup))
    }

    @Test(arguments: ["check", "lib-check", "lib-stage", "../Scripts/package", "../Scripts/api"])
    func `a script is one that bash understands`(script: String) async throws {
        let path = PackagingFile.folder.appendingPathComponent(script).path
        let outcome = try await PackagingFile.run("/bin/bash", "-n", path)
        #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }
}
