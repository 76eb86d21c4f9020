import Foundation
import Logging
import RecordServer
import ServiceLifecycle

/// The end of the certificate that a server serves, as operators learn of it.
///
/// The alert rules have the same bounds.
struct CertificateEnd: Hashable {
    static let warningDays = 30
    static let errorDays = 7

    let date: Date

    /// - Parameter seconds: Since 1970.
    init(seconds: Int64) {
        self.date = Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// Whole days until the end; negative after it.
    func daysLeft(at now: Date) -> Int {
        Int((self.date.timeIntervalSince(now) / 86_400).rounded(.down))
    }

    /// How urgent a renewal is; `nil` if it is not yet.
    func level(at now: Date) -> Logger.Level? {
        switch self.daysLeft(at: now) {
        case ..<Self.errorDays: .error
        case ..<Self.warningDays: .warning
        default: nil
        }
    }

    /// A phrase for people.
    func text(at now: Date) -> String {
        let text = "certificate until \(self.date.formatted(.iso8601))"
        guard self.level(at: now) != nil else { return text }
        let days = self.daysLeft(at: now)
        return days < 0 ? "\(text) (it has ended: renew it)" : "\(text) (\(days) days left: renew it)"
    }

    /// Logs that the end is near, if it is.
    func warn(_ logger: Logger, at now: Date = Date()) {
        guard let level = self.level(at: now) else { return }
        let days = self.daysLeft(at: now)
        logger.log(
            level: level,
            days < 0 ? "the certificate has ended" : "the certificate ends soon",
            metadata: [
                "until": "\(self.date.formatted(.iso8601))", "days_left": .stringConvertible(days),
                LogKeys.advice: "Renew it, and send SIGHUP. The server's own needs the signal alone.",
            ]
        )
    }
}

/// Warns of the certificate's end at the start, and then once a day.
struct CertificateWatch: Service {
    private static let interval = Duration.seconds(86_400)

    let server: RecordServer
    let logger: Logger

    func run() async throws {
        self.look()
        for await _ in AsyncTicks(interval: Self.interval).cancelOnGracefulShutdown() { self.look() }
    }

    private func look() { CertificateEnd(seconds: self.server.certificateEndSeconds).warn(self.logger) }
}
