public import Foundation
import PredicateFormat
package import RecordModel
import Synchronization

/// The type, the condition and the order of the records to find.
///
/// The query remembers a predicate that a query can't ask, or a missing record type, where Apple's
/// framework raises an exception. The operation then fails with `CKError.Code.invalidArguments` and
/// the text of that exception. `now()` in a predicate is the time at which the query was made.
///
/// - Source: Apple's `CKQuery`.
// SAFETY: all mutable state is behind a mutex, predicates and sort descriptors never change.
open class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The type of the records.
    open var recordType: CKRecord.RecordType { self.storedType }

    /// The condition on the records.
    ///
    /// It is the predicate that was given, not a copy: Foundation's copy of a compound predicate is
    /// another predicate.
    open var predicate: NSPredicate { self.storedPredicate }

    /// The order of the records, the most important descriptor first; `nil` if the server decides.
    open var sortDescriptors: [NSSortDescriptor]? {
        get { self.sort.withLock { $0.descriptors } }
        set {
            let order = SortOrder(descriptors: newValue)
            self.sort.withLock { $0 = order }
        }
    }

    private let storedType: CKRecord.RecordType
    private let storedPredicate: NSPredicate
    private let condition: Result<RecordModel.Predicate, CKError>
    private let sort: Mutex<SortOrder>

    // SAFETY: descriptors never change.
    private struct SortOrder: @unchecked Sendable {
        var descriptors: [NSSortDescriptor]?
    }

    init(storing recordType: CKRecord.RecordType, predicate: NSPredicate, sort: [NSSortDescriptor]?) {
        self.storedType = recordType
        self.storedPredicate = predicate
        self.condition = Self.condition(predicate, now: Date())
        self.sort = Mutex(SortOrder(descriptors: sort))
        super.init()
    }

    /// Creates a query for the records of a type that meet a predicate.
    ///
    /// - Parameters:
    ///   - recordType: The type. If it is empty, the operation fails with `invalidArguments`.
    ///   - predicate: The condition, with at most 400 comparisons and 32 levels. If a query can't
    ///     ask it, the operation fails with `invalidArguments`.
    public required convenience init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.init(storing: recordType, predicate: predicate, sort: nil)
    }

    /// Reads an archived query; `nil` if the archive has none.
    public required convenience init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), let recordType = body.text("recordType"),
            let predicate = PredicateArchive(body).map({ _CKFormatPredicate($0) })
        else {
            return nil
        }
        self.init(storing: recordType, predicate: predicate, sort: SortArchive(body)?.descriptors)
    }

    /// Writes the query into an archive; equal queries give equal bytes.
    ///
    /// The archived predicate is one from a format, whatever it was made of. A block, and a sort by
    /// anything but a key, are not written. The archive remembers that a query can't have them.
    open func encode(with coder: NSCoder) {
        let archive = PredicateArchive(self.storedPredicate)
        let sort = self.sortDescriptors.map { SortArchive($0).parts } ?? []
        coder.encodeBody([Field("recordType", .string(self.storedType))] + archive.parts + sort)
    }

    /// Always `true`: queries can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent query of the same type and predicate, with the same sort descriptors.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKQuery(storing: self.storedType, predicate: self.storedPredicate, sort: self.sortDescriptors)
    }

    /// A description of the query for people.
    open override var description: String {
        "<CKQuery: recordType=\(self.storedType), predicate=\(PredicateArchive(self.storedPredicate).format), "
            + "sortDescriptors=\(self.sortDescriptors ?? [])>"
    }

    /// Returns the query for the server.
    ///
    /// - Throws: `CKError.Code.invalidArguments` for the first part that no server could be asked.
    package func modelQuery() throws(CKError) -> RecordModel.Query {
        guard !self.storedType.isEmpty else {
            throw .local(.invalidArguments, "A query needs a record type")
        }
        let descriptors = self.sortDescriptors ?? []
        guard descriptors.count <= Bounds.sortKeysMax else {
            throw .local(.invalidArguments, "A query has at most \(Bounds.sortKeysMax) sort descriptors")
        }
        var sort: [SortKey] = []
        for descriptor in descriptors { sort.append(try SortKey(descriptor)) }
        return RecordModel.Query(recordType: self.storedType, predicate: try self.condition.get(), sort: sort)
    }

    static func condition(
        _ predicate: NSPredicate,
        now: Date
    ) -> Result<RecordModel.Predicate, CKError> {
        do throws(PredicateFailure) {
            let syntax = try PredicateSyntax(predicate)
            return .success(
                try RecordModel.Predicate(syntax, nowSeconds: now.timeIntervalSinceReferenceDate)
            )
        } catch {
            return .failure(.local(.invalidArguments, error.text))
        }
    }
}
