import Foundation
import RecordServer
import TestSupport
import Testing

@testable import tidemark

/// The image's description, against the packages, the unit and the program.
@Suite(.timeLimit(.minutes(10)))
struct ContainerfileTests {
    /// The arguments of an instruction, with continued lines joined.
    private static func arguments(_ instruction: String) throws -> [String] {
        let text = try PackagingFile.text("Containerfile").replacing(/\\\n\s*/, with: "")
        return text.split(separator: "\n").filter { $0.hasPrefix(instruction + " ") }
            .map { String($0.dropFirst(instruction.count + 1)) }
    }

    /// The words of an instruction in the form of an array.
    private static func words(_ text: Substring) throws -> [String] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String])
    }

    @Test
    func `the image has the server's package and nothing else`() throws {
        let copied = try Self.arguments("COPY")
        #expect(copied == ["tidemark_*.deb /tmp/"])
        // The package's name is what Scripts/package puts before the first underscore.
        #expect(try PackagingFile.text("debian/control").hasPrefix("Package: tidemark\n"))
        let script = try String(
            contentsOf: Readme.repository.appendingPathComponent("Scripts/package"),
            encoding: .utf8
        )
        #expect(script.contains("file=$output/${package}_${version}_"))
        #expect(try Self.arguments("FROM") == ["docker.io/library/debian:bookworm-slim"])
        let runs = try Self.arguments("RUN")
        #expect(runs.contains { $0.contains("/tmp/tidemark_*.deb") && $0.contains("rm -rf") })
    }

    @Test
    func `the image serves as an account of its own, on the default port, in the data folder of the unit`()
        throws
    {
        let unit = try PackagingFile.unit()
        let account = try #require(try Self.arguments("USER").first)
        #expect(unit["User"] == [account])
        #expect(try Self.arguments("RUN").contains { $0.contains("useradd ") && $0.contains(" \(account)") })
        #expect(try Self.arguments("ENV") == unit["Environment"])
        #expect(try Self.arguments("VOLUME").map { "TIDEMARK_DATA=\($0)" } == unit["Environment"])
        #expect(try Self.arguments("EXPOSE") == ["\(ServerConfiguration.Listen.defaults.port)"])
        // The server drains on both; the shell's default for others would end it at once.
        #expect(try Self.arguments("STOPSIGNAL") == ["SIGTERM"])
    }

    @Test
    func `the image's commands have subcommands and flags of the program`() async throws {
        let entry = try Self.words(try #require(try Self.arguments("ENTRYPOINT").first)[...])
        let command = try Self.words(try #require(try Self.arguments("CMD").first)[...])
        #expect(entry == ["tidemark"])
        try CommandNames.check(command, of: Tidemark.self)
        let flags = command.filter { $0.hasPrefix("--") }
        #expect(try await Set(flags).isSubset(of: PackagingFile.options("tidemark", ["serve"])))
        let listen = try #require(command.firstIndex(of: "--listen").map { command[$0 + 1] })
        // The loopback address of a container is nobody's but its own.
        #expect(ListenAddress(listen) == ListenAddress(host: "0.0.0.0", port: ListenAddress.defaults.port))
        let health = try #require(try Self.arguments("HEALTHCHECK").first)
        let words = try Self.words(try #require(health.firstMatch(of: /CMD (\[.*\])$/)).1)
        #expect(words.first == "tidemark")
        try CommandNames.check(Array(words.dropFirst()), of: Tidemark.self)
        let outcome = try await ChildProcess.run(ChildProcess.tidemark, words.dropFirst() + ["--help"])
        #expect(outcome.exitCode == 0)
    }
}
