import RecordClient
import RecordModel
import WireProtocol

/// The server and the users of a run.
struct Target: Sendable {
    var host: String
    var port: Int
    var trust: ClientConfiguration.Trust
    var container: String
    var environment: Environment
    /// Access tokens, one per user; at least one.
    var tokens: [String]

    /// Makes a client for one connection.
    ///
    /// User numbers wrap around. Each connection has its own installation, because acknowledgements
    /// are stored per installation.
    func client(user: Int, installation: UInt64, threads: ClientThreads = .shared) -> RecordClient {
        var configuration = ClientConfiguration(
            host: self.host,
            port: self.port,
            trust: self.trust,
            container: self.container,
            environment: self.environment,
            accessToken: self.tokens[user % self.tokens.count]
        )
        configuration.installationID = [SplitMix64.mix(installation), installation].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        // A server that was killed is back in a moment. The longest pause need not be measured.
        configuration.backoffMax = .seconds(1)
        return RecordClient(configuration: configuration, threads: threads)
    }
}

extension RecordClient {
    /// Performs a request and requires success of every item.
    ///
    /// If it is rejected under load, or because the store is away, it is sent again at the time that the
    /// rejection names.
    ///
    /// - Parameters:
    ///   - operation: The request.
    ///   - purpose: The purpose, as a phrase for an error text.
    ///   - codes: Failures of an item that count as success.
    ///   - timeout: For each attempt.
    /// - Throws: `LoadFailure` with the purpose.
    func require(
        _ operation: Operation,
        to purpose: String,
        orEnds codes: Set<ErrorCode> = [],
        within timeout: Duration = .seconds(120)
    ) async throws(LoadFailure) {
        for _ in 0..<Self.triesMax {
            do throws(ClientError) {
                let outcomes = try await self.perform(operation, timeout: timeout)
                for case .failure(let failure) in outcomes.values where !codes.contains(failure.code) {
                    throw ClientError.refused(failure)
                }
                return
            } catch {
                guard let milliseconds = error.retryMilliseconds else {
                    throw LoadFailure(error, to: purpose)
                }
                try? await Task.sleep(for: .milliseconds(milliseconds))
            }
        }
        throw LoadFailure(.failed, "the server rejected every attempt to \(purpose)")
    }

    static var triesMax: Int { 20 }
}

extension ClientError {
    /// When the server asks to repeat a request that it could not execute now; `nil` for another error.
    var retryMilliseconds: Int64? {
        guard case .refused(let failure) = self,
            failure.code == .requestRateLimited || failure.code == .serviceUnavailable,
            case .after(let milliseconds) = failure.retry
        else { return nil }
        return Int64(milliseconds)
    }
}

extension LoadFailure {
    init(_ error: ClientError, to purpose: String) {
        switch error {
        case .refused(let failure):
            self.init(
                .failed,
                "the server refused to \(purpose): \(failure.message) (\(FailureReason.text(failure)))",
                refusal: failure.code
            )
        case .unreachable(let description), .offline(let description), .misconfigured(let description):
            self.init(.unavailable, description)
        case .rejected(let reason, let message):
            self.init(
                Self.isFinal(reason) ? .failed : .unavailable,
                "the server refused the connection: \(message)"
            )
        default: self.init(.unavailable, "it was not possible to \(purpose): \(FailureReason.text(error))")
        }
    }
}

extension LoadFailure {
    /// Whether a server that rejects a connection for this reason would reject the next one too.
    private static func isFinal(_ reason: CloseReason) -> Bool {
        [.notAuthenticated, .containerUnknown, .credentialExpired, .accountChanged, .versionUnsupported]
            .contains(reason)
    }
}

extension RecordMessage {
    func read() throws(LoadFailure) -> Record {
        do throws(WireError) {
            return try self.record()
        } catch {
            throw LoadFailure(.protocolViolation(error), to: "read a record")
        }
    }
}
