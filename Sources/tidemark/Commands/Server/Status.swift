import Administration
import ArgumentParser
import Foundation
import RecordServer

/// The command `tidemark status`.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print in one line whether a server serves the folder and responds.",
        discussion: """
            Connects to the server and waits two seconds for its TLS handshake. An empty folder gets five \
            seconds, because a server may be about to make its store, and an absent one half a second. Exits with 0 if the server responds, 3 if no server has locked the \
            folder, 69 if one has but does not respond (it starts, or hangs), 66 \
            if the folder has no store. A second line names settings of PostgreSQL \
            that were off when the server started, and without which a crash loses \
            saves.

              tidemark status --data /var/lib/tidemark
              tidemark status --json
            """
    )

    private static let timeout = Duration.seconds(2)
    /// The maximum wait for an absent folder.
    private static let absence = Duration.milliseconds(500)
    private static let notServing = ExitCode(3)

    @OptionGroup var data: DataOption

    @Flag(
        help: "Print a JSON object: state, data, process, listen, version, format, since, certificateEnd."
    )
    var json = false

    func run() async throws {
        let report = try await self.look()
        Terminal.write(self.json ? try JSONText.of(report) : report.text + "\n")
        switch report.state {
        case .serving: return
        case .notServing: throw Self.notServing
        case .starting, .notAnswering: throw ExitCode(CommandFailure.Code.unavailable.rawValue)
        }
    }

    /// Only reads, so root may do it in another user's folder.
    private func look() async throws -> Report {
        let folder = self.data.folder
        let begin = ContinuousClock.now
        var wait = ServerWait(folder: folder)
        while true {
            try DataFolderAccess(folder: folder).checkReading()
            guard FileManager.default.fileExists(atPath: folder.path) else {
                // A server that was started a moment ago makes it first of all.
                guard ContinuousClock.now - begin < Self.absence else { throw folder.isAbsent }
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            if DataFolderLock.isHeld(in: folder) { break }
            if folder.hasStore { return Report(.notServing, folder, nil) }
            guard try await wait.goesOn(without: .store) else { throw folder.hasNoStore }
        }
        let holder = LockHolder(in: folder)
        guard let service = holder?.service else { return Report(.starting, folder, holder) }
        let answer = await ServerProbe.answer(
            host: service.listen.reachableHost,
            port: service.listen.port,
            timeout: Self.timeout
        )
        let end = answer?.certificateEndSeconds.map { CertificateEnd(seconds: $0) }
        return Report(answer == nil ? .notAnswering : .serving, folder, holder, end)
    }

    private enum State: String, Encodable {
        case serving
        case notServing = "not serving"
        case starting
        case notAnswering = "not answering"
    }

    private struct Report: Encodable {
        let state: State
        let data: String
        let process: Int32?
        let listen: String?
        let version: String?
        let format: Int?
        /// ISO 8601, in UTC.
        let since: String?
        /// `nil` if there are none.
        let unsafeSettings: [String]?
        /// ISO 8601, in UTC.
        let certificateEnd: String?
        private let certificate: String?

        private enum CodingKeys: CodingKey {
            case state, data, process, listen, version, format, since, unsafeSettings, certificateEnd
        }

        init(_ state: State, _ folder: DataFolder, _ holder: LockHolder?, _ end: CertificateEnd? = nil) {
            self.state = state
            self.data = folder.path
            self.process = holder?.process
            self.listen = holder?.service?.listen.description
            self.version = holder?.service?.version
            self.format = holder?.service?.format
            self.since = holder?.service?.since
            let unsafe = holder?.service?.unsafeSettings ?? []
            self.unsafeSettings = unsafe.isEmpty ? nil : unsafe
            self.certificateEnd = end?.date.formatted(.iso8601)
            self.certificate = end?.text(at: Date())
        }

        var text: String {
            var parts: [String] = []
            if let listen { parts.append("on \(listen)") }
            if let process { parts.append("process \(process)") }
            if let version { parts.append("version \(version)") }
            if let format { parts.append("format \(format)") }
            if let since { parts.append("since \(since)") }
            if let certificate { parts.append(certificate) }
            parts.append("data \(self.data)")
            let line = "\(self.state.rawValue): \(parts.joined(separator: ", "))"
            return LackingProtection.all(named: self.unsafeSettings ?? []).reduce(line) {
                "\($0)\n\($1.consequence): it has \($1.names.joined(separator: ", ")) off"
            }
        }
    }
}
