internal import Foundation

/// The settings that a configuration contains, and how configurations combine.
struct OperationSettings: Sendable {
    enum Defaults {
        static let qualityOfService = QualityOfService.default
        static let requestSeconds: TimeInterval = 60
        static let resourceSeconds: TimeInterval = 7 * 24 * 60 * 60
        /// The longest time for an attempt to connect, because a user waits for the response.
        static let connectionTimeout = Duration.seconds(10)
    }

    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var timeoutIntervalForRequest: TimeInterval?
    var timeoutIntervalForResource: TimeInterval?
    var downloadsAssets: Bool?

    /// Whether records come with the files of their assets.
    var withFiles: Bool { self.downloadsAssets ?? true }

    /// Returns these settings, completed by those of `other`.
    func over(_ other: OperationSettings?) -> OperationSettings {
        guard let other else { return self }
        func set(_ seconds: TimeInterval?) -> TimeInterval? { seconds == 0 ? nil : seconds }
        return OperationSettings(
            container: self.container ?? other.container,
            qualityOfService: self.qualityOfService ?? other.qualityOfService,
            allowsCellularAccess: self.allowsCellularAccess ?? other.allowsCellularAccess,
            isLongLived: self.isLongLived ?? other.isLongLived,
            timeoutIntervalForRequest: set(self.timeoutIntervalForRequest) ?? other.timeoutIntervalForRequest,
            timeoutIntervalForResource: set(self.timeoutIntervalForResource)
                ?? other.timeoutIntervalForResource,
            downloadsAssets: self.downloadsAssets ?? other.downloadsAssets
        )
    }

    /// The time limits of a request.
    ///
    /// - Source: Apple, *CKOperation.h*: a request timeout overrides the default "if non-zero", and
    ///   a resource timeout of -1 is "no enforcement".
    var timeouts: Timeouts {
        let request = Self.duration(self.timeoutIntervalForRequest, default: Defaults.requestSeconds)
        let resource =
            (self.timeoutIntervalForResource ?? 0) < 0
            ? .seconds(Self.secondsMax)
            : Self.duration(self.timeoutIntervalForResource, default: Defaults.resourceSeconds)
        switch self.qualityOfService ?? Defaults.qualityOfService {
        // No user waits for this work, so it survives an outage: only the time limit for all of it
        // ends it, not silence.
        case .utility, .background:
            return Timeouts(request: resource, resource: resource, connection: resource)
        default:
            let request = min(request, resource)
            return Timeouts(
                request: request,
                resource: resource,
                connection: min(request, Defaults.connectionTimeout)
            )
        }
    }

    private static let secondsMax: TimeInterval = 366 * 24 * 60 * 60

    /// Returns a duration; published code passes both `.infinity` and 0, and neither may trap.
    ///
    /// It is at most a year, and the default if nothing is set.
    private static func duration(_ seconds: TimeInterval?, default other: TimeInterval) -> Duration {
        guard let seconds, seconds > 0 else { return .seconds(other) }
        return .milliseconds(Int64(max(min(seconds, self.secondsMax) * 1_000, 1)))
    }
}

/// The time limits of a request.
struct Timeouts: Hashable, Sendable {
    /// The longest silence.
    var request: Duration
    /// The longest time for all of it.
    var resource: Duration
    /// The longest time without a connection before anything was sent.
    var connection: Duration
}
