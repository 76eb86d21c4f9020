public import Foundation

/// Operations that belong together for the user, and the configuration that they share.
///
/// - Source: Apple's `CKOperationGroup`.
// SAFETY: as on Apple's systems, a group is filled in by one thread before its operations start;
// operations read it once, when they start.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    /// The approximate size of a group's transfers.
    ///
    /// For statistics only.
    public enum TransferSize: Int, Sendable {
        /// The size is not known.
        case unknown = 0
        /// Less than a megabyte.
        case kilobytes
        /// 1 to 10 megabytes.
        case megabytes
        /// 10 to 100 megabytes.
        case tensOfMegabytes
        /// 100 megabytes to a gigabyte.
        case hundredsOfMegabytes
        /// 1 to 10 gigabytes.
        case gigabytes
        /// 10 to 100 gigabytes.
        case tensOfGigabytes
        /// More than 100 gigabytes.
        case hundredsOfGigabytes
    }

    /// A UUID that the group got when it was made.
    open var operationGroupID: String { self.identifier }
    /// A name for people.
    open var name: String?
    /// The number of things that the group is about; 0 if not known.
    open var quantity: Int = 0
    /// The approximate size of what its operations send.
    open var expectedSendSize: TransferSize = .unknown
    /// The approximate size of what its operations receive.
    open var expectedReceiveSize: TransferSize = .unknown

    private let identifier: String
    private var shared = CKOperation.Configuration()

    /// The settings that operations of the group use unless they have their own.
    ///
    /// It is never `nil` when read, and copied when set.
    // Apple's type: published code assigns optionals.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var defaultConfiguration: CKOperation.Configuration! {
        get { self.shared }
        set { self.shared = CKOperation.Configuration(settings: newValue?.settings ?? OperationSettings()) }
    }

    /// Makes a group with an ID of its own.
    public override init() {
        self.identifier = UUID().uuidString
        super.init()
    }

    private enum Key {
        static let identifier = "OperationGroupID"
        static let name = "OperationGroupName"
        static let quantity = "Quantity"
        static let send = "ExpectedSendSize"
        static let receive = "ExpectedReceiveSize"
    }

    /// Always `true`.
    public static var supportsSecureCoding: Bool { true }

    /// Reads what `encode(with:)` wrote; an absent value gets its default.
    public required init(coder: NSCoder) {
        func string(_ key: String) -> String? {
            coder.containsValue(forKey: key)
                ? coder.decodeObject(of: NSString.self, forKey: key).map { $0 as String } : nil
        }
        func number<Value>(_ key: String, _ read: (String) -> Value) -> Value? {
            coder.containsValue(forKey: key) ? read(key) : nil
        }
        self.identifier = string(Key.identifier) ?? UUID().uuidString
        super.init()
        self.name = string(Key.name)
        self.quantity = number(Key.quantity, coder.decodeInteger) ?? 0
        self.expectedSendSize = number(Key.send, coder.decodeInteger).flatMap(TransferSize.init) ?? .unknown
        self.expectedReceiveSize =
            number(Key.receive, coder.decodeInteger).flatMap(TransferSize.init) ?? .unknown
        self.shared.settings = OperationSettings(coder)
    }

    /// Writes the group and its default configuration, without the configuration's container.
    open func encode(with coder: NSCoder) {
        coder.encode(self.identifier as NSString, forKey: Key.identifier)
        if let name = self.name { coder.encode(name as NSString, forKey: Key.name) }
        coder.encode(self.quantity, forKey: Key.quantity)
        coder.encode(self.expectedSendSize.rawValue, forKey: Key.send)
        coder.encode(self.expectedReceiveSize.rawValue, forKey: Key.receive)
        self.shared.settings.encode(with: coder)
    }
}
