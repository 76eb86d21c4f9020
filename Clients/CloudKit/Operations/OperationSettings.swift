internal import Foundation

/// What a configuration says explicitly, and how several of them combine.
struct OperationSettings: Sendable {
    enum Defaults {
        static let qualityOfService = QualityOfService.default
        static let requestSeconds: TimeInterval = 60
        static let resourceSeconds: TimeInterval = 7 * 24 * 60 * 60
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
        return OperationSettings(
            container: self.container ?? other.container,
            qualityOfService: self.qualityOfService ?? other.qualityOfService,
            allowsCellularAccess: self.allowsCellularAccess ?? other.allowsCellularAccess,
            isLongLived: self.isLongLived ?? other.isLongLived,
            timeoutIntervalForRequest: self.timeoutIntervalForRequest ?? other.timeoutIntervalForRequest,
            timeoutIntervalForResource: self.timeoutIntervalForResource ?? other.timeoutIntervalForResource,
            downloadsAssets: self.downloadsAssets ?? other.downloadsAssets
        )
    }

    /// The limits of time that a request gets.
    var patience: Patience {
        let request = Self.duration(self.timeoutIntervalForRequest ?? Defaults.requestSeconds)
        let resource = Self.duration(self.timeoutIntervalForResource ?? Defaults.resourceSeconds)
        switch self.qualityOfService ?? Defaults.qualityOfService {
        // Work that nobody waits for outlives an outage: silence ends it no sooner than the time over all.
        case .utility, .background: return Patience(request: resource, resource: resource)
        default: return Patience(request: min(request, resource), resource: resource)
        }
    }

    /// Published code passes `.infinity` and 0 alike, and neither may trap: at most a year, at least a millisecond.
    private static func duration(_ seconds: TimeInterval) -> Duration {
        let year: TimeInterval = 366 * 24 * 60 * 60
        guard !seconds.isNaN else { return .seconds(Defaults.requestSeconds) }
        return .milliseconds(Int64(min(max(seconds, 0.001), year) * 1_000))
    }
}

/// How long a request may take.
struct Patience: Hashable, Sendable {
    /// Longest silence.
    var request: Duration
    /// Longest time over all.
    var resource: Duration
}
