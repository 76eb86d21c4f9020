internal import Foundation

/// What a configuration says explicitly, and how several of them combine.
struct OperationSettings: Sendable {
    enum Defaults {
        static let qualityOfService = QualityOfService.default
        static let requestSeconds: TimeInterval = 60
        static let resourceSeconds: TimeInterval = 7 * 24 * 60 * 60
        /// As long as one attempt to connect may take: somebody waits for the answer.
        static let connectionPatience = Duration.seconds(10)
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

    /// These settings, and where they say nothing those of `other`.
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

    /// The limits of time that a request gets.
    ///
    /// - Source: Apple, *CKOperation.h*: a request timeout overrides the default "if non-zero", and a resource timeout of -1 is "no
    ///   enforcement".
    var patience: Patience {
        let request = Self.duration(self.timeoutIntervalForRequest, default: Defaults.requestSeconds)
        let resource =
            (self.timeoutIntervalForResource ?? 0) < 0
            ? .seconds(Self.secondsMax)
            : Self.duration(self.timeoutIntervalForResource, default: Defaults.resourceSeconds)
        switch self.qualityOfService ?? Defaults.qualityOfService {
        // Work that nobody waits for outlives an outage: neither silence nor the lack of a connection ends it before its time is over.
        case .utility, .background:
            return Patience(request: resource, resource: resource, connection: resource)
        default:
            let request = min(request, resource)
            return Patience(
                request: request,
                resource: resource,
                connection: min(request, Defaults.connectionPatience)
            )
        }
    }

    private static let secondsMax: TimeInterval = 366 * 24 * 60 * 60

    /// Published code passes `.infinity` and 0 alike, and neither may trap: at most a year, and the default if nothing is set.
    private static func duration(_ seconds: TimeInterval?, default other: TimeInterval) -> Duration {
        guard let seconds, seconds > 0 else { return .seconds(other) }
        return .milliseconds(Int64(max(min(seconds, self.secondsMax) * 1_000, 1)))
    }
}

/// How long a request may take.
struct Patience: Hashable, Sendable {
    /// Longest silence.
    var request: Duration
    /// Longest time over all.
    var resource: Duration
    /// Longest time without a connection, before anything was sent.
    var connection: Duration
}
