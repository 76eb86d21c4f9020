import AccessTokens
import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// The file with an identity provider's keys: read at the start, and again whenever it changes.
struct IdentityKeysFile: Service {
    private static let interval = Duration.seconds(1)

    let tokens: IdentityTokens
    private let path: String
    private let logger: Logger
    private let firstState: State?

    /// What tells one version of a file from another.
    private struct State: Equatable {
        var modified: Date?
        var bytes: UInt64?
        var number: UInt64?

        init?(path: String) {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            self.modified = attributes[.modificationDate] as? Date
            self.bytes = attributes[.size] as? UInt64
            self.number = attributes[.systemFileNumber] as? UInt64
        }
    }

    /// Reads the keys for the first time.
    ///
    /// - Returns: `nil` when no identity provider is trusted.
    /// - Throws: `configuration` for a file that cannot be used.
    init?(_ settings: Settings.Identity, logger: Logger) async throws(CommandFailure) {
        guard let path = settings.keysPath, let issuer = settings.issuer else { return nil }
        self.path = path
        self.logger = logger
        self.firstState = State(path: path)
        self.tokens = IdentityTokens(
            rules: IdentityTokens.Rules(
                issuer: issuer,
                audience: settings.audience,
                leewaySeconds: settings.leewaySeconds,
                createsUsers: settings.createsUsers
            ),
            keys: try await Self.keys(in: path)
        )
    }

    /// Looks at the file once a second; one that cannot be used leaves the keys as they were.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var state = self.firstState
            while true {
                try await Task.sleep(for: Self.interval)
                let now = State(path: self.path)
                guard now != state else { continue }
                state = now
                do throws(CommandFailure) {
                    self.tokens.replaceKeys(try await Self.keys(in: self.path))
                    self.logger.info(
                        "read the identity provider's keys again",
                        metadata: [LogKeys.path: "\(self.path)"]
                    )
                } catch {
                    self.logger.error(
                        "the identity provider's keys stay as they were",
                        metadata: [LogKeys.reason: "\(error.message)"]
                    )
                }
            }
        }
    }

    private static func keys(in path: String) async throws(CommandFailure) -> VerificationKeys {
        guard let contents = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure(
                .configuration,
                "the file of jwt_keys_file, \(path), cannot be read as text."
            )
        }
        do {
            return try await VerificationKeys(contents: contents)
        } catch {
            throw CommandFailure(.configuration, "the file of jwt_keys_file, \(path), \(Self.advice(error))")
        }
    }

    private static func advice(_ error: VerificationKeyError) -> String {
        switch error {
        case .unreadable: "is neither a JSON Web Key Set nor public keys in PEM."
        case .unusable(let name):
            "has a key that cannot be used: \(name). It takes RSA from 2,048 bits, P-256, P-384, P-521 and Ed25519."
        case .none: "has no key that verifies signatures. Shared secrets are not accepted."
        case .secret: "has a private key. Give the server public keys alone."
        case .tooMany: "has more keys, or is larger, than any provider's."
        }
    }
}
