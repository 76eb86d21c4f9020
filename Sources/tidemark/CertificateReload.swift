import Logging
import RecordServer
import ServiceLifecycle
import UnixSignals

/// Reads the certificate again at each SIGHUP.
///
/// New connections get the new certificate; existing ones keep theirs. If it cannot be used, the
/// old one stays in force.
struct CertificateReload: Service {
    let source: CertificateSource
    let server: RecordServer
    let supervisor: Supervisor
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            for await _ in signals { self.reload() }
        }
    }

    private func reload() {
        self.supervisor.tell(.reloading(monotonicMicroseconds: SystemTime.monotonicMicroseconds))
        do throws(CommandFailure) {
            let material = try self.source.load(logger: self.logger).material
            do {
                try self.server.replaceCertificate(material)
            } catch {
                throw CommandFailure(.configuration, "the certificate cannot be used: \(error).")
            }
            self.logger.notice("reloaded the certificate", metadata: ["path": "\(self.source.path)"])
            self.supervisor.tell(.reloaded(failure: nil))
        } catch {
            self.logger.error(
                "keeping the old certificate",
                metadata: ["path": "\(self.source.path)", "reason": "\(error.message)"]
            )
            self.supervisor.tell(.reloaded(failure: error.message))
        }
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
