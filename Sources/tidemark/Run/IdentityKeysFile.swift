import AccessTokens
import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// Keeps the keys of an identity provider up to date with their file: reads them at the start and
/// after each change.
struct IdentityKeysFile: Service {
    private static let interval = Duration.seconds(1)

    let tokens: IdentityTokens
    private let file: VerificationKeyFile
    private let retention: KeyRetention
    private let logger: Logger

    /// Reads the keys for the first time.
    ///
    /// - Returns: `nil` if no identity provider is trusted.
    /// - Throws: `configuration` for a file that cannot be used.
    init?(_ settings: Settings.Identity, logger: Logger) async throws(CommandFailure) {
        guard let path = settings.keysPath, let issuer = settings.issuer else { return nil }
        self.file = VerificationKeyFile(path: path)
        self.retention = settings.keyRetention
        self.logger = logger
        let keys: VerificationKeys
        do {
            keys = try await self.file.read()
        } catch {
            throw CommandFailure(.configuration, Self.text(of: error, path))
        }
        self.tokens = IdentityTokens(
            rules: IdentityTokens.Rules(
                issuer: issuer,
                audience: settings.audience,
                leewaySeconds: settings.leewaySeconds,
                createsUsers: settings.createsUsers
            ),
            keys: keys
        )
        if keys.isEmpty { self.tellNobody(Self.text(of: .unusable(.none), path)) }
    }

    /// Checks the file once a second.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var file = self.file
            while true {
                try await Task.sleep(for: Self.interval)
                if file.hasChanged() { await self.takeKeys(of: file) }
            }
        }
    }

    /// Takes the file's keys.
    ///
    /// If it has none, keeps the last ones or drops them, as the operator's setting says.
    private func takeKeys(of file: VerificationKeyFile) async {
        do throws(VerificationKeyFileError) {
            let keys = try await file.read()
            guard !keys.isEmpty else { throw .unusable(.none) }
            self.tokens.replaceKeys(keys)
            self.logger.info(
                "reloaded the identity provider's keys",
                metadata: [LogKeys.path: "\(file.path)"]
            )
        } catch {
            let reason = Self.text(of: error, file.path)
            guard self.retention.keepsKeys(after: error) else {
                self.tokens.replaceKeys(.none)
                return self.tellNobody(reason)
            }
            let advice =
                self.retention == .always
                ? "To refuse its users, start the server with jwt_keys_keep=never."
                : #"To refuse its users, write {"keys": []} there."#
            self.logger.error(
                "keeping the old keys of the identity provider",
                metadata: [LogKeys.reason: "\(reason) \(advice)"]
            )
        }
    }

    private func tellNobody(_ reason: String) {
        self.logger.error(
            "the identity provider has no keys: its tokens are refused",
            metadata: [LogKeys.reason: "\(reason) To admit its users, write the provider's keys there."]
        )
    }

    private static func text(of error: VerificationKeyFileError, _ path: String) -> String {
        "the file of jwt_keys_file, \(path), \(Self.advice(error))"
    }

    private static func advice(_ error: VerificationKeyFileError) -> String {
        switch error {
        case .unreachable(let code): "cannot be read: \(String(cString: strerror(code)))."
        case .unusable(.unreadable): "is neither a JSON Web Key Set nor public keys in PEM."
        case .unusable(.unusable(let name)):
            "has a key that cannot be used: \(name). Use RSA from 2,048 bits, P-256, P-384, P-521 or Ed25519."
        case .unusable(.none): "has no key that verifies signatures. Shared secrets are not accepted."
        case .unusable(.secret): "has a private key. Give the server public keys only."
        case .unusable(.tooMany): "has too many keys, or is too large."
        }
    }
}
