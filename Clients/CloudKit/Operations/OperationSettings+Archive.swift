internal import Foundation

/// Settings in an archive, without the container, each under a key of its own.
extension OperationSettings {
    private enum Key {
        static let qualityOfService = "QualityOfService"
        static let cellular = "AllowsCellularAccess"
        static let longLived = "LongLived"
        static let request = "TimeoutIntervalForRequest"
        static let resource = "TimeoutIntervalForResource"
        static let assets = "DownloadsAssets"
    }

    /// Reads what `encode(with:)` wrote; an absent setting was not set.
    init(_ coder: NSCoder) {
        func value<Value>(_ key: String, _ read: (String) -> Value) -> Value? {
            coder.containsValue(forKey: key) ? read(key) : nil
        }
        self.init(
            qualityOfService: value(Key.qualityOfService, coder.decodeInteger).flatMap(
                QualityOfService.init(rawValue:)
            ),
            allowsCellularAccess: value(Key.cellular, coder.decodeBool),
            isLongLived: value(Key.longLived, coder.decodeBool),
            timeoutIntervalForRequest: value(Key.request, coder.decodeDouble),
            timeoutIntervalForResource: value(Key.resource, coder.decodeDouble),
            downloadsAssets: value(Key.assets, coder.decodeBool)
        )
    }

    func encode(with coder: NSCoder) {
        if let quality = self.qualityOfService {
            coder.encode(quality.rawValue, forKey: Key.qualityOfService)
        }
        if let allows = self.allowsCellularAccess { coder.encode(allows, forKey: Key.cellular) }
        if let isLongLived = self.isLongLived { coder.encode(isLongLived, forKey: Key.longLived) }
        if let seconds = self.timeoutIntervalForRequest { coder.encode(seconds, forKey: Key.request) }
        if let seconds = self.timeoutIntervalForResource { coder.encode(seconds, forKey: Key.resource) }
        if let downloads = self.downloadsAssets { coder.encode(downloads, forKey: Key.assets) }
    }
}
