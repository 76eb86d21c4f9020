public import Foundation

// Properties that moved to `configuration`; published code still sets them on the operation.
extension CKOperation {
    /// The configuration's `container`; deprecated by Apple.
    public var container: CKContainer? {
        get { self.effectiveSettings.container }
        set { self.configuration.container = newValue }
    }

    /// The configuration's `allowsCellularAccess`; deprecated by Apple.
    public var allowsCellularAccess: Bool {
        get { self.effectiveSettings.allowsCellularAccess ?? true }
        set { self.configuration.allowsCellularAccess = newValue }
    }

    /// The configuration's `isLongLived`; deprecated by Apple.
    public var isLongLived: Bool {
        get { self.effectiveSettings.isLongLived ?? false }
        set { self.configuration.isLongLived = newValue }
    }

    /// The configuration's `timeoutIntervalForRequest`, seconds; deprecated by Apple.
    public var timeoutIntervalForRequest: TimeInterval {
        get { self.effectiveSettings.timeoutIntervalForRequest ?? OperationSettings.Defaults.requestSeconds }
        set { self.configuration.timeoutIntervalForRequest = newValue }
    }

    /// The configuration's `timeoutIntervalForResource`, seconds; deprecated by Apple.
    public var timeoutIntervalForResource: TimeInterval {
        get {
            self.effectiveSettings.timeoutIntervalForResource ?? OperationSettings.Defaults.resourceSeconds
        }
        set { self.configuration.timeoutIntervalForResource = newValue }
    }
}
