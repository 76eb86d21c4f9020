public import Foundation

/// Operations that belong together from the user's point of view, and the configuration that they share.
// SAFETY: as on Apple's systems, a group is filled in by one thread before its operations start; operations read it
// once, when they start.
open class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    /// About how much a group is going to send or receive.
    ///
    /// For statistics only.
    public enum TransferSize: Int, Sendable {
        /// Not said.
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

    /// A UUID that this group got when it was made.
    open var operationGroupID: String { self.identifier }
    /// A name for people.
    open var name: String?
    /// How many things the group is about, 0 if not said.
    open var quantity: Int = 0
    /// About how much its operations send.
    open var expectedSendSize: TransferSize = .unknown
    /// About how much its operations receive.
    open var expectedReceiveSize: TransferSize = .unknown

    private let identifier: String
    private var shared = CKOperation.Configuration()

    /// What operations of the group do that say nothing else.
    ///
    /// Never `nil` when read; copied when set.
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

    /// Reads what `encode(with:)` wrote; what is absent gets its default.
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

    /// Writes the group and its default configuration, without the latter's container.
    open func encode(with coder: NSCoder) {
        coder.encode(self.identifier as NSString, forKey: Key.identifier)
        if let name = self.name { coder.encode(name as NSString, forKey: Key.name) }
        coder.encode(self.quantity, forKey: Key.quantity)
        coder.encode(self.expectedSendSize.rawValue, forKey: Key.send)
        coder.encode(self.expectedReceiveSize.rawValue, forKey: Key.receive)
        self.shared.settings.encode(with: coder)
    }
}
