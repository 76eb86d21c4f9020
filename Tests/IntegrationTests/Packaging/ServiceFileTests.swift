import Foundation
import TestSupport
import Testing

@testable import tidemark

/// What the package gives to systemd, against the program and its settings.
@Suite(.timeLimit(.minutes(1)))
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
        let codes = try #require(unit["RestartPreventExitStatus"]?.first).split(separator: " ")
        #expect(
            !codes.isEmpty
                && codes.allSatisfy { Int32($0).flatMap { CommandFailure.Code(rawValue: $0) } != nil }
        )
        // An address that is taken, or a disk that is full, may be free later.
        #expect(!codes.contains("69") && !codes.contains("73"))
        for name in ["NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictNamespaces"] {
            #expect(unit[name] == ["true"], "\(name)")
        }
        #expect(unit["ProtectSystem"] == ["strict"] && unit["CapabilityBoundingSet"] == [""])
        #expect(unit["SystemCallFilter"] == ["@system-service", "~@privileged"])
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
    func `only purge removes data`(action: String) async throws {
        let postrm = try PackagingFile.text("debian/postrm")
        let folder = try TemporaryDirectory()
        let data = folder.path + "/var/lib/tidemark"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        // The script as it is, in a folder in place of the root, without the system's programs.
        let script = postrm.replacing("/var/lib/tidemark", with: data)
            .replacing("/run/tidemark", with: folder.path + "/run/tidemark")
            .replacing("/etc/tidemark", with: folder.path + "/etc/tidemark")
            .replacing("/usr/bin/deb-systemd-helper", with: folder.path + "/none")
            .replacing("/run/systemd/system", with: folder.path + "/none")
        #expect(try await PackagingFile.run("/bin/dash", "-c", script, "postrm", action).exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: data))
        #expect(try await PackagingFile.run("/bin/dash", "-c", script, "postrm", "purge").exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: data))
    }

    @Test(arguments: ["check", "lib-check", "lib-stage", "../Scripts/package", "../Scripts/api"])
    func `a script is one that bash understands`(script: String) async throws {
        let path = PackagingFile.folder.appendingPathComponent(script).path
        let outcome = try await PackagingFile.run("/bin/bash", "-n", path)
        #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }
}
