public import Foundation

/// How an operation is to be executed.
///
/// A property that was never set takes its value from the operation's group, and without one there from the
/// defaults given with each property.
// SAFETY: as on Apple's systems, a configuration is filled in by one thread and then handed over; operations and
// groups keep copies.
open class CKOperationConfiguration: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// What was set, and only that.
    var settings = OperationSettings()

    /// Makes a configuration in which nothing is set.
    public override init() { super.init() }

    init(settings: OperationSettings) {
        self.settings = settings
        super.init()
    }

    /// The container of an operation that has no database; `nil`: the default container.
    open var container: CKContainer? {
        get { self.settings.container }
        set { self.settings.container = newValue }
    }

    /// How urgent the operation is.
    ///
    /// Work of `.utility` and `.background` waits for a server that can't be reached, until `timeoutIntervalForResource`. Other work
    /// fails when there was no connection for ten seconds before it could be sent; what was sent is sent again for
    /// `timeoutIntervalForRequest`. `.default` if not set.
    open var qualityOfService: QualityOfService {
        get { self.settings.qualityOfService ?? OperationSettings.Defaults.qualityOfService }
        set { self.settings.qualityOfService = newValue }
    }

    /// Kept for code that sets it; there is no telling a cellular network here.
    ///
    /// `true` if not set.
    open var allowsCellularAccess: Bool {
        get { self.settings.allowsCellularAccess ?? true }
        set { self.settings.allowsCellularAccess = newValue }
    }

    /// Kept for code that sets it: operations do not outlive the process in this version.
    ///
    /// `false` if not set.
    open var isLongLived: Bool {
        get { self.settings.isLongLived ?? false }
        set { self.settings.isLongLived = newValue }
    }

    /// Longest silence of the server in seconds; starts again whenever something arrives.
    ///
    /// 60 if not set; 0 and less are not set.
    open var timeoutIntervalForRequest: TimeInterval {
        get { self.settings.timeoutIntervalForRequest ?? OperationSettings.Defaults.requestSeconds }
        set { self.settings.timeoutIntervalForRequest = newValue }
    }

    /// Longest time for the whole operation in seconds.
    ///
    /// A week if not set, or 0; without a limit below 0.
    open var timeoutIntervalForResource: TimeInterval {
        get { self.settings.timeoutIntervalForResource ?? OperationSettings.Defaults.resourceSeconds }
        set { self.settings.timeoutIntervalForResource = newValue }
    }

    /// Whether fetched records come with the files of their assets.
    ///
    /// Without, `CKAsset.fileURL` is `nil`, and `CKDatabase.assetData(_:of:in:)` reads what is wanted. Beyond Apple's surface. `true` if
    /// not set.
    public var downloadsAssets: Bool {
        get { self.settings.withFiles }
        set { self.settings.downloadsAssets = newValue }
    }

    /// Reads what `encode(with:)` wrote; what is absent was not set.
    public required init?(coder: NSCoder) {
        self.settings = OperationSettings(coder)
        super.init()
    }

    /// Writes what was set, without the container.
    open func encode(with coder: NSCoder) { self.settings.encode(with: coder) }

    /// Whether configurations may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// An independent copy that knows as well what was set and what was not.
    open func copy(with zone: NSZone? = nil) -> Any { CKOperationConfiguration(settings: self.settings) }
}

extension CKOperation {
    /// How an operation is to be executed.
    public typealias Configuration = CKOperationConfiguration
}
