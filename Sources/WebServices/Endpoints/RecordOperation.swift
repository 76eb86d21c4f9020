import Foundation
import RecordJSON
import RecordModel
import SystemCrypto

/// One of the seven kinds of operation of `records/modify`.
enum RecordOperationKind: String, Hashable, Sendable, CaseIterable {
    case create
    case update
    case forceUpdate
    case replace
    case forceReplace
    case delete
    case forceDelete

    /// Whether the record must have the tag that the operation names.
    var comparesTag: Bool { self == .update || self == .replace || self == .delete }
    var isDelete: Bool { self == .delete || self == .forceDelete }
    fileprivate var replacesFields: Bool { self == .replace || self == .forceReplace }
}

/// An operation of `records/modify`, as far as it can be judged without the store.
struct RecordOperation: Sendable {
    enum Change: Sendable {
        case save(RecordSave)
        /// The tag that the record must have; `nil` if any may be deleted.
        case delete(tag: String?)
        /// It cannot be executed.
        case refused(WebFailure)
    }

    let id: RecordID
    let change: Change
    /// The fields that the response has; `nil` for those of the request.
    let desiredKeys: Set<String>?

    /// Reads an operation.
    ///
    /// - Parameters:
    ///   - node: The operation.
    ///   - number: Its place in the request.
    ///   - request: The request. Its zone counts if the record names none.
    /// - Throws: The fault of the whole request.
    init(_ node: JSONNode, number: Int, _ request: WebRequest) throws(WebInputError) {
        let object = try WebObject(node, of: "an operation")
        let name = try object.requiredString("operationType")
        guard let kind = RecordOperationKind(rawValue: name) else {
            throw WebInputError("there is no operationType '\(name)'", at: object.position)
        }
        let record = try WebObject(try object.required("record"), of: "the record of an operation")
        let zone = try record.zone("zoneID", own: request.own)
        let common = try request.root.zone("zoneID", own: request.own)
        guard
            let recordName = try record.string("recordName")
                ?? (kind == .create ? request.recordName(number) : nil)
        else { throw WebInputError("the record of an operation has no 'recordName'", at: record.position) }
        self.id = RecordID(zone: zone ?? common ?? .default, recordName: recordName)
        self.desiredKeys = try object.strings("desiredKeys").map { Set($0) }
        let tag = try record.string("recordChangeTag")
        if kind.comparesTag, tag == nil {
            self.change = .refused(
                WebFailure(.badRequest, "missing required field 'recordChangeTag' of a record to \(name)")
            )
        } else if kind.isDelete {
            self.change = .delete(tag: kind == .delete ? tag : nil)
        } else {
            self.change = try Self.save(record, self.id, kind, tag: tag, request)
        }
    }

    private static func save(
        _ record: WebObject,
        _ id: RecordID,
        _ kind: RecordOperationKind,
        tag: String?,
        _ request: WebRequest
    ) throws(WebInputError) -> Change {
        guard let type = try record.string("recordType") else {
            return .refused(WebFailure(.badRequest, "missing required field 'recordType'"))
        }
        guard type.lowercased() != ShareRecord.type, record["forRecord"] == nil else {
            return .refused(WebFailure(.badRequest, "this version of the server does not serve shares here"))
        }
        guard NameRules.isIdentifier(type.utf8) else {
            return .refused(WebFailure(.notFound, "there is no record type '\(type)'"))
        }
        let (body, error) = try WebFields.body(of: record["fields"], own: request.own)
        var save = RecordSave(
            id: id,
            recordType: type,
            changeTag: kind.comparesTag ? tag : nil,
            changes: body,
            changesError: error
        )
        save.policy = kind.comparesTag || kind == .create ? .ifServerRecordUnchanged : .changedKeys
        save.replacesFields = kind.replacesFields
        if let parent = try record.object("parent") {
            save.parent = .set(recordName: try parent.requiredString("recordName"))
        } else if record.isNull("parent") {
            save.parent = .removed
        }
        return .save(save)
    }
}

extension WebRequest {
    /// The name of a record that is created without one: a UUID, the same whenever the request is
    /// replayed.
    fileprivate func recordName(_ number: Int) -> String {
        let hash = SHA256.hash(self.requestID.bytes + Array("\(number)".utf8))
        let id = RequestID(bytes: hash.prefix(16)) ?? self.requestID
        let bytes = RequestID(
            high: id.high & ~0xF000 | 0x8000,
            low: id.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        ).bytes
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        let parts = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return parts.map { $0.joined() }.joined(separator: "-")
    }
}
