import Administration
import Logging
import RecordServer
import ServiceLifecycle
import UnixSignals

/// Reads the settings and the certificate again at each SIGHUP.
///
/// All of it takes effect or, after an error, nothing: the log then has the error. Settings that
/// need a restart are named in the log, and stay as they are. New connections get the new
/// certificate; existing ones keep theirs.
struct SettingsReload: Service {
    let reader: SettingsReader
    let settings: LiveSettings
    let folder: DataFolder
    let server: RecordServer
    let supervisor: Supervisor
    let logLevel: LogLevel
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            for await _ in signals { await self.reload() }
        }
    }

    private func reload() async {
        self.supervisor.tell(.reloading(monotonicMicroseconds: SystemTime.monotonicMicroseconds))
        do {
            try self.take(try await self.reader.read())
            self.supervisor.tell(.reloaded(failure: nil))
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            self.logger.error(
                "keeping the old settings and certificate",
                metadata: [LogKeys.reason: "\(reason)"]
            )
            self.supervisor.tell(.reloaded(failure: reason))
        }
    }

    /// Lets new settings take effect, after the part that can fail: the certificate.
    private func take(_ read: Settings) throws(CommandFailure) {
        let old = self.settings.current
        let new = old.reloading(read)
        let source = CertificateSource(new, folder: self.folder)
        let material = try source.load(logger: self.logger).material
        do {
            try self.server.replaceCertificate(material)
        } catch {
            throw CommandFailure(
                .configuration,
                "the certificate \(source.path) cannot be used: \(error)."
            )
        }
        self.server.replaceQuotas(new.server.storage.quotas)
        self.logLevel.current = new.logLevel
        self.settings.current = new
        ServedSettings.write(new, in: self.folder, logger: self.logger)
        self.logger.notice(
            "reloaded the settings and the certificate",
            metadata: [
                LogKeys.path: "\(source.path)",
                LogKeys.changed: "\(old.namesOfDifferences(from: new).joined(separator: " "))",
                LogKeys.needRestart: "\(new.namesOfDifferences(from: read).joined(separator: " "))",
            ]
        )
        CertificateEnd(seconds: self.server.certificateEndSeconds).warn(self.logger)
    }
}

extension CertificateSource {
    /// Path of the certificate.
    fileprivate var path: String {
        switch self {
        case .files(let chain, _): chain
        case .ownAuthority(let folder, _): folder.path + "/tls/server.pem"
        }
    }
}
