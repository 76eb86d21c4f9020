import CloudKit
import Foundation
import RecordModel

typealias ModelPredicate = RecordModel.Predicate

/// What the server is asked by a predicate.
func asked(_ predicate: NSPredicate) throws -> ModelPredicate {
    try CKQuery(recordType: "Thing", predicate: predicate).modelQuery().predicate
}

/// The text that a query with a predicate fails with; `nil` when it does not.
func refusal(_ predicate: NSPredicate) -> String? {
    refusal(CKQuery(recordType: "Thing", predicate: predicate))
}

/// The text that a query fails with; `nil` when it does not.
func refusal(_ query: CKQuery) -> String? {
    do throws(CKError) {
        _ = try query.modelQuery()
        return nil
    } catch {
        guard error.code == .invalidArguments else { return "\(error.code)" }
        return error.userInfo[NSLocalizedDescriptionKey] as? String
    }
}

func compare(_ field: String, _ comparator: RecordModel.Comparator, _ operand: FieldValue) -> ModelPredicate {
    .comparison(RecordModel.Comparison(field: field, comparator: comparator, operand: operand))
}

func reference(_ name: String) -> FieldValue {
    .reference(RecordModel.Reference(recordName: name, action: .none))
}
