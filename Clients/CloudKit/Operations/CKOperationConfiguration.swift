public import Foundation

/// The settings of an operation.
///
/// A property that was never set takes its value from the operation's group, and else its default.
///
/// - Source: Apple's `CKOperationConfiguration`.
// SAFETY: as on Apple's systems, a configuration is filled in by one thread and then handed over;
// operations and groups keep copies.
open class CKOperationConfiguration: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The settings that were set, and only those.
    var settings = OperationSettings()

    /// Makes a configuration in which nothing is set.
    public override init() { super.init() }

    init(settings: OperationSettings) {
        self.settings = settings
        super.init()
    }

    /// The container of an operation that has no database; `nil` if the default container is used.
    open var container: CKContainer? {
        get { self.settings.container }
        set { self.settings.container = newValue }
    }

    /// How urgent the operation is; `.default` if not set.
    ///
    /// With `.utility` and `.background`, an operation waits for an unreachable server until
    /// `timeoutIntervalForResource`. Others fail if there was no connection for ten seconds before
    /// they could be sent. A request that was sent is sent again for `timeoutIntervalForRequest`.
    open var qualityOfService: QualityOfService {
        get { self.settings.qualityOfService ?? OperationSettings.Defaults.qualityOfService }
        set { self.settings.qualityOfService = newValue }
    }

    /// Kept for code that sets it: Linux does not tell cellular networks apart.
    ///
    /// It is `true` if not set.
    open var allowsCellularAccess: Bool {
        get { self.settings.allowsCellularAccess ?? true }
        set { self.settings.allowsCellularAccess = newValue }
    }

    /// Kept for code that sets it: operations do not outlive the process in this version.
    ///
    /// It is `false` if not set.
    open var isLongLived: Bool {
        get { self.settings.isLongLived ?? false }
        set { self.settings.isLongLived = newValue }
    }

    /// The longest silence of the server in seconds; it starts again whenever something arrives.
    ///
    /// It is 60 if not set; 0 and less count as not set.
    open var timeoutIntervalForRequest: TimeInterval {
        get { self.settings.timeoutIntervalForRequest ?? OperationSettings.Defaults.requestSeconds }
        set { self.settings.timeoutIntervalForRequest = newValue }
    }

    /// The longest time for the whole operation in seconds.
    ///
    /// It is a week if not set or 0; below 0 there is no limit.
    open var timeoutIntervalForResource: TimeInterval {
        get { self.settings.timeoutIntervalForResource ?? OperationSettings.Defaults.resourceSeconds }
        set { self.settings.timeoutIntervalForResource = newValue }
    }

    /// Whether fetched records come with the files of their assets; `true` if not set.
    ///
    /// Without them `CKAsset.fileURL` is `nil`, and `CKDatabase.assetData(_:of:in:)` reads parts of
    /// them. Beyond Apple's API.
    public var downloadsAssets: Bool {
        get { self.settings.withFiles }
        set { self.settings.downloadsAssets = newValue }
    }

    /// Reads what `encode(with:)` wrote; an absent setting was not set.
    public required init?(coder: NSCoder) {
        self.settings = OperationSettings(coder)
        super.init()
    }

    /// Writes what was set, without the container.
    open func encode(with coder: NSCoder) { self.settings.encode(with: coder) }

    /// Always `true`: configurations can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent copy with the same settings, set and not set.
    open func copy(with zone: NSZone? = nil) -> Any { CKOperationConfiguration(settings: self.settings) }
}

extension CKOperation {
    /// The settings of an operation.
    public typealias Configuration = CKOperationConfiguration
}
