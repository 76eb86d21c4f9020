import Foundation
import PredicateFormat
import RecordModel

extension ExpressionSyntax {
    /// Makes the constant for an argument of `%@`.
    ///
    /// A reference or an ID means the record of that name in the zone of the record that is tested.
    /// A set is a list in any order. A value that no field can have is kept as a fault that names
    /// it.
    init(argument: Any) {
        switch argument {
        case let array as NSArray: self = .list((0..<array.count).map { .element(array.object(at: $0)) })
        case let array as [Any]: self = .list(array.map { .element($0) })
        case let set as NSSet: self = .list(set.allObjects.map { .element($0) })
        case let set as NSOrderedSet: self = .list(set.array.map { .element($0) })
        case let set as Set<AnyHashable>: self = .list(set.map { .element($0.base) })
        default: self = .element(argument)
        }
    }

    private static func element(_ argument: Any) -> ExpressionSyntax {
        switch argument {
        case is NSNull: return .constant(.null)
        case let reference as CKReference: return .reference(to: reference.recordID)
        case let recordID as CKRecordID: return .reference(to: recordID)
        case let record as CKRecord: return .reference(to: record.recordID)
        case let text as Substring: return .value(.string(String(text)))
        case is NSArray, is [Any]: return .constant(.unusable("a list can't hold lists"))
        case let value as any FieldValueConvertible: return Self.value(of: value)
        default:
            if Mirror(reflecting: argument).displayStyle == .optional { return .constant(.null) }
            return .constant(.unusable("a predicate can't hold a value of the type \(type(of: argument))"))
        }
    }

    private static func reference(to recordID: CKRecordID) -> ExpressionSyntax {
        .value(.reference(Reference(recordName: recordID.recordName, action: .none)))
    }

    private static func value(of value: any FieldValueConvertible) -> ExpressionSyntax {
        do throws(ValueRefusal) {
            return .value(try value.fieldValue(in: .default))
        } catch {
            return .constant(.unusable(error.text))
        }
    }
}
